/** Composes messages of plain text. Nothing in them is encoded, so that a stored message is readable. */
import { randomUUID } from "node:crypto";

export interface Message {
  /** `address@example.com` or `Name <address@example.com>`, in ASCII. */
  readonly from: string;
  /** One address. It is passed to the server as it is, never parsed; mail to an ambiguous one is not sent. */
  readonly to: string;
  readonly subject: string;
  /** Lines of at most 998 characters (RFC 5322 §2.1.1). */
  readonly text: string;
}

/** The address in `Name <address>`. */
export const addressOf = (from: string): string => /<([^>]*)>$/.exec(from)?.[1] ?? from;

/** `Auto-Submitted` (RFC 3834) prevents automatic replies. */
export const composeMessage = ({ from, to, subject, text }: Message): string =>
  [
    `From: ${from}`,
    `To: <${to}>`,
    `Subject: ${subject}`,
    `Date: ${new Date().toUTCString().replace("GMT", "+0000")}`,
    `Message-ID: <${randomUUID()}@${addressOf(from).replace(/^.*@/, "")}>`,
    "Auto-Submitted: auto-generated",
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=utf-8",
    "Content-Transfer-Encoding: 8bit",
    "",
    ...text.split("\n"),
  ].join("\r\n");
