/** Composes plain-text messages with nodemailer. Texts and headers in ASCII are not encoded: people can read a stored message. */
import { toAsciiEmail } from "@latchkey/contracts";

export interface Message {
  /** `address@example.com` or `Name <address@example.com>`. The name can be in double quotes. */
  readonly from: string;
  /** One address. A message to an address that is not mailable is not sent. */
  readonly to: string;
  readonly subject: string;
  /** Lines of at most 998 characters (RFC 5322 §2.1.1). */
  readonly text: string;
}

/** Splits `Name <address>`. */
function parseSender(from: string) {
  const [, name = "", address = from] = /^"?(.*?)"? <([^>]*)>$/.exec(from) ?? [];
  return { name, address };
}

/** Returns the address in `Name <address>`. */
export const addressOf = (from: string): string => parseSender(from).address;

/** The library is imported at the first message: most processes send none. */
export async function composeMessage({ from, to, subject, text }: Message): Promise<Buffer> {
  const { default: MimeNode } = await import("nodemailer/lib/mime-node");
  const { encodeWord } = await import("nodemailer/lib/mime-funcs");
  const isAscii = /^[\n\x20-\x7e]*$/.test(text);
  /** nodemailer would encode lines of more than 76 characters, which every link has. */
  class PlainText extends MimeNode {
    override getTransferEncoding() {
      return isAscii ? ("7bit" as const) : super.getTransferEncoding();
    }
  }
  const node = new PlainText("text/plain; charset=utf-8", { newline: "windows" });
  node.setHeader({
    From: parseSender(from),
    To: { name: "", address: toAsciiEmail(to) },
    // nodemailer encodes only what is not ASCII, but mail programs decode everything that looks like a word of RFC 2047.
    Subject: subject.includes("=?") ? encodeWord(subject, "B", 52) : subject,
    // Prevents automatic replies (RFC 3834).
    "Auto-Submitted": "auto-generated",
  });
  return node.setContent(text).build();
}
