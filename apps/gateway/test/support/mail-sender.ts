/** A mail sender beside a service under test, with what it has logged and observed. */
import { parseRecoveryCodes } from "@latchkey/database";
import { createMails, openSmtpTransport, type Transport } from "@latchkey/mail";
import type { MailServer } from "@latchkey/testing/mail-server";
import { startMailSender } from "../../src/mail/sender.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { Service } from "./service.ts";

const SENDER = "Example <accounts@example.com>";

export const smtp = ({ port }: Pick<MailServer, "port">, login = {}): Promise<Transport> =>
  openSmtpTransport({ host: "127.0.0.1", port, ...login }, SENDER);

/** More than any test waits beside other work. Less than `sender.test.ts` has, so that its failures state what is missing. */
const PATIENCE_MS = 100_000;

/** Waits until the condition holds. @throws with the log of the sender */
async function until(condition: () => Promise<boolean> | boolean, what: string, log: object): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what}; the log is ${JSON.stringify(log)}`);
    await Bun.sleep(10);
  }
}

/** Starts a sender beside a service, as `serve.ts` does. */
export async function startSender(service: Service, transport: Transport | Promise<Transport>) {
  const { tokenKeys, mail } = service.config;
  if (!mail) throw new Error("The service sends no mail");
  const log: Record<string, unknown>[] = [];
  const outcomes: string[] = [];
  const write = (line: object) => log.push({ ...line });
  const sender = startMailSender({
    ...(await importTokenKeys(tokenKeys, () => "")),
    outbox: service.database.outbox,
    transport: await transport,
    from: SENDER,
    listLogins: async (userId) => ({
      passkeys: await service.database.passkeys.list(userId),
      identities: await service.database.identities.list(userId),
    }),
    countRecoveryCodes: async (userId) => {
      const factor = await service.database.factors.find(userId);
      return factor ? parseRecoveryCodes(factor).length : 0;
    },
    writeMail: createMails({ ...mail, publicUrl: mail.publicUrl ?? service.url }),
    logger: { info: write, warn: write },
    pollMs: 50,
    observe: (outcome, kind, count = 1) => outcomes.push(...Array<string>(count).fill(`${outcome} ${kind}`)),
  });
  return {
    log,
    outcomes,
    close: sender.close,
    /** Waits until no mail waits or is being sent. */
    drained: () =>
      until(async () => (await service.database.outbox.count()) === 0, "The outbox is not empty", log),
    /** Waits for a line of the log. */
    async event(name: string, count = 1) {
      const found = () => log.filter(({ event }) => event === name);
      await until(() => found().length >= count, `${name} was not logged ${count} times`, log);
      return found();
    },
    [Symbol.asyncDispose]: sender.close,
  };
}
