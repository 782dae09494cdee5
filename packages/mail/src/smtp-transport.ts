/**
 * Sends each message over an SMTP connection of its own. Invariant: errors never contain the server's text, because the
 * server can repeat the recipient's address.
 */
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

/** The server's certificate is always verified. */
export async function openSmtpTransport(server: SMTPConnectionOptions): Promise<Transport> {
  const { createTransport } = await import("nodemailer");
  const transport = createTransport({
    ...server,
    // In milliseconds. `socketTimeout` limits the time without any byte from the server.
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 15_000,
  });
  return {
    async send(message) {
      if (!isMailable(message.to)) throw new MailNotSent("EENVELOPE", true);
      const envelope = { from: addressOf(message.from), to: [toAsciiEmail(message.to)] };
      const signal = AbortSignal.timeout(TOTAL_TIMEOUT_MS);
      const sent = transport.sendMail({ envelope, raw: composeMessage(message), signal });
      await sent.catch((error) => {
        throw signal.aborted ? new MailNotSent("ETIMEDOUT", false) : toMailError(error);
      });
    },
  };
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
