/** A mail sender beside a service under test, with what it has logged and observed. */
import type { MailKind } from "@latchkey/contracts";
import { createMails, openSmtpTransport, type Transport } from "@latchkey/mail";
import type { MailServer } from "@latchkey/testing/mail-server";
import { type MailOutcome, startMailSender } from "../../src/mail/sender.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { Service } from "./service.ts";

const SENDER = "Example <accounts@example.com>";

export const smtp = ({ port }: Pick<MailServer, "port">, login = {}): Promise<Transport> =>
  openSmtpTransport({ host: "127.0.0.1", port, ...login }, SENDER);

/** Starts a sender beside a service, as `program.ts` does. */
export async function startSender(service: Service, transport: Transport | Promise<Transport>) {
  const { auth, mail } = service.config;
  if (!mail) throw new Error("The service sends no mail");
  const log: Record<string, unknown>[] = [];
  const outcomes: string[] = [];
  const write = (line: object) => log.push({ ...line });
  const sender = startMailSender({
    ...(await importTokenKeys({ ...auth, openSecretKey: () => "" })),
    outbox: service.database.outbox,
    transport: await transport,
    from: SENDER,
    listLogins: async (userId) => ({
      passkeys: await service.database.passkeys.list(userId),
      identities: await service.database.identities.list(userId),
    }),
    writeMail: createMails({ ...mail, publicUrl: mail.publicUrl ?? service.url }),
    logger: { info: write, warn: write },
    pollMs: 10,
    observe: (outcome: MailOutcome, kind: MailKind) => outcomes.push(`${outcome} ${kind}`),
  });
  return {
    log,
    outcomes,
    close: sender.close,
    /** Waits until no mail waits or is being sent. */
    async drained(): Promise<void> {
      while ((await service.database.outbox.count()) > 0) await Bun.sleep(10);
    },
    /** Waits for a line of the log. */
    async event(name: string, count = 1) {
      const found = () => log.filter(({ event }) => event === name);
      while (found().length < count) await Bun.sleep(10);
      return found();
    },
    [Symbol.asyncDispose]: sender.close,
  };
}
