/** Composes plain-text messages. Headers in ASCII are not encoded, so that people can read a stored message. */
import { randomUUID } from "node:crypto";

export interface Message {
  /** `address@example.com` or `Name <address@example.com>`. The address is in ASCII. */
  readonly from: string;
  /** One address, which is passed to the server without parsing. A message to an ambiguous address is not sent. */
  readonly to: string;
  readonly subject: string;
  /** Lines of at most 998 characters (RFC 5322 §2.1.1). */
  readonly text: string;
}

/** Returns the address in `Name <address>`. */
export const addressOf = (from: string): string => /<([^>]*)>$/.exec(from)?.[1] ?? from;

/** Encodes a header that is not ASCII as words of RFC 2047. No character is split, and lines have at most 76 characters (§2). */
function encodeHeader(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes("=?")) return text;
  const words = text.match(/.{1,9}/gsu) ?? [];
  return words.map((word) => `=?utf-8?B?${Buffer.from(word).toString("base64")}?=`).join("\r\n ");
}

const encodeSender = (from: string): string =>
  from.replace(/^(.+) </, (found, name: string) => {
    const encoded = encodeHeader(name);
    return encoded === name ? found : `${encoded}\r\n <`;
  });

/** `Auto-Submitted` (RFC 3834) prevents automatic replies. */
export const composeMessage = ({ from, to, subject, text }: Message): string =>
  [
    `From: ${encodeSender(from)}`,
    `To: <${to}>`,
    `Subject: ${encodeHeader(subject)}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${randomUUID()}@${addressOf(from).replace(/^.*@/, "")}>`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    ...text.split("\n"),
  ].join("\r\n");
