/**
 * Composes messages with nodemailer: text alone, or text and HTML (multipart/alternative). Texts and headers in ASCII are not
 * encoded: people can read a stored message.
 */
import { toAsciiEmail } from "@latchkey/contracts";

export interface Message {
  /** `address@example.com` or `Name <address@example.com>`. The name can be in double quotes. */
  readonly from: string;
  /** One address. A message to an address that is not mailable is not sent. */
  readonly to: string;
  readonly subject: string;
  /** Complete by itself. Lines of at most 998 characters (RFC 5322 §2.1.1). */
  readonly text: string;
  /** The same as the text. @default none */
  readonly html?: string;
  /** A tag of BCP 47, for screen readers and translators. @default unknown */
  readonly language?: string;
}

/** RFC 5322 §2.1.1. */
const LINE_MAX_LENGTH = 998;
const isPlain = (text: string): boolean =>
  /^[\n\x20-\x7e]*$/.test(text) && text.split("\n").every((line) => line.length <= LINE_MAX_LENGTH);

/** Splits `Name <address>`. */
function parseSender(from: string) {
  const [, name = "", address = from] = /^"?(.*?)"? <([^>]*)>$/.exec(from) ?? [];
  return { name, address };
}

/** Returns the address in `Name <address>`. */
export const addressOf = (from: string): string => parseSender(from).address;

/** The library is imported at the first message: most processes send none. */
export async function composeMessage({ from, to, subject, text, html, language }: Message): Promise<Buffer> {
  const { default: MimeNode } = await import("nodemailer/lib/mime-node");
  const { encodeWord } = await import("nodemailer/lib/mime-funcs");
  /** nodemailer would encode lines of more than 76 characters, which every link has. */
  class PlainPart extends MimeNode {
    override getTransferEncoding() {
      const { content } = this;
      return typeof content === "string" && isPlain(content)
        ? ("7bit" as const)
        : super.getTransferEncoding();
    }
  }
  const options = { newline: "windows" };
  const [plain, formatted] = ["text/plain; charset=utf-8", "text/html; charset=utf-8"];
  const node = new PlainPart(html === undefined ? plain : "multipart/alternative", options);
  node.setHeader({
    From: parseSender(from),
    To: { name: "", address: toAsciiEmail(to) },
    // nodemailer encodes only what is not ASCII, but mail programs decode everything that looks like a word of RFC 2047.
    Subject: subject.includes("=?") ? encodeWord(subject, "B", 52) : subject,
    // Prevents automatic replies (RFC 3834).
    "Auto-Submitted": "auto-generated",
    ...(language !== undefined && { "Content-Language": language }),
  });
  if (html === undefined) return node.setContent(text).build();
  // Programs show the last alternative that they can (RFC 2046 §5.1.4).
  for (const [type, content] of [
    [plain, text],
    [formatted, html],
  ] as const)
    node.appendChild(new PlainPart(type, options)).setContent(content);
  return node.build();
}
