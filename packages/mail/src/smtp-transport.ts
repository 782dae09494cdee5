/** Sends each message over an SMTP connection of its own. Invariant: no error has the server's text: it can name the recipient. */
import { isMailable, toAsciiEmail } from "@latchkey/contracts";
import type { SMTPConnectionOptions } from "nodemailer";
import { addressOf, composeMessage, type Message } from "./message.ts";

export interface Transport {
  /** @throws MailNotSent */
  send(message: Message): Promise<void>;
}

/** The message was not sent, or the server's answer was lost. */
export class MailNotSent extends Error {
  override readonly name = "MailNotSent";

  /**
   * @param reason the server's reply code and enhanced status code (`550 5.1.1`), or a connection error (`ECONNREFUSED`)
   * @param isPermanent whether another attempt is useless
   */
  constructor(
    readonly reason: string,
    readonly isPermanent: boolean,
  ) {
    super(`The mail server did not accept the message (${reason})`);
  }
}

/** Timeout for a whole message. The timeout must be shorter than the lease of a claimed mail in the outbox. */
const TOTAL_TIMEOUT_MS = 45_000;

/**
 * The server's certificate is always verified.
 * @param from the sender of all messages. Its domain is the name of this client: without it, a container would name its address,
 *   and relays reject that
 */
export async function openSmtpTransport(server: SMTPConnectionOptions, from: string): Promise<Transport> {
  const { createTransport } = await import("nodemailer");
  const options = {
    name: toAsciiEmail(addressOf(from)).replace(/^.*@/, ""),
    // In milliseconds. `socketTimeout` limits the time without any byte from the server.
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 15_000,
    ...server,
  };
  const transport = createTransport(options);
  return {
    async send(message) {
      if (!isMailable(message.to)) throw new MailNotSent("EENVELOPE", true);
      const to = toAsciiEmail(message.to);
      const envelope = { from: addressOf(message.from), to: [to] };
      const signal = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
      try {
        if (/[^\0-\x7f]/.test(to) && !(await offersSmtpUtf8(options)))
          throw new MailNotSent("no SMTPUTF8", true);
        await transport.sendMail({ envelope, raw: await composeMessage(message), signal });
      } catch (error) {
        throw signal.aborted ? new MailNotSent("ETIMEDOUT", false) : toMailError(error);
      }
    },
  };
}

/** Without the extension (RFC 6531), no server can deliver to a local part that is not ASCII, but some accept the message. */
async function offersSmtpUtf8(options: SMTPConnectionOptions): Promise<boolean> {
  const { default: SMTPConnection } = await import("nodemailer/lib/smtp-connection");
  const connection = new SMTPConnection(options);
  try {
    await new Promise<void>((resolve, reject) => {
      connection.once("error", reject);
      connection.connect((error) => (error ? reject(error) : resolve()));
    });
    // The reply to EHLO.
    return /^250[ -]SMTPUTF8\b/im.test(String(connection.lastServerResponse));
  } finally {
    connection.close();
  }
}

/** An error without a reply code comes from the connection or a file. A rejected SMTP login (`EAUTH`) is temporary. */
export function toMailError(error: unknown): MailNotSent {
  if (error instanceof MailNotSent) return error;
  const details: Partial<Record<string, unknown>> = Object(error);
  const { code = "unexpected error", originalCode = code, responseCode = originalCode } = details;
  const [status] = /\b[245]\.\d{1,3}\.\d{1,3}\b/.exec(String(details.response ?? "")) ?? [];
  const reason = [responseCode, status].filter(Boolean).join(" ");
  return new MailNotSent(reason, details.permanent === true && code !== "EAUTH");
}
