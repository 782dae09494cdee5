/**
 * A service in this process whose derivations are replaced by a constant, because they vary by more than what is measured, with its
 * mail sender, and users who request one change of e-mail each.
 */
import { createMails } from "@latchkey/contracts";
import { openDatabase } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { openSmtpTransport } from "@latchkey/mail";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { MailServer } from "@latchkey/testing/mail-server";
import { createApp } from "../../src/app.ts";
import { parseConfig } from "../../src/config.ts";
import { startMailSender } from "../../src/mail/sender.ts";
import { createLogger } from "../../src/observability/logger.ts";
import { createTokens } from "../../src/tokens/access-tokens.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";

interface EmailChangeOptions {
  readonly mailServer: Pick<MailServer, "port">;
  /** Each has a user who requests a taken e-mail, and one who requests a free one. */
  readonly rounds: number;
}

export async function startEmailChanges({ mailServer, rounds }: EmailChangeOptions) {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const database = resources.use(await openDatabase({ url: folder.databaseUrl }));
  await database.migrate();
  const variables = {
    ...{ NODE_ENV: "test", PORT: "0", DATABASE_URL: folder.databaseUrl, AUTH_SECRET_KEY: SECRET_KEY },
    ...{ AUTH_EMAIL_CHANGE: "true", LOG_LEVEL: "silent", RATE_LIMIT_PASSWORD_CHANGE: "1000000/minute" },
  };
  const context = { kernels: [], isTerminal: false, readFile: String };
  const config = parseConfig(variables, context);
  const keys = await importTokenKeys({ ...config.auth, openSecretKey: () => SECRET_KEY });
  const tokens = createTokens({ ...config.auth, keys });
  const logger = await createLogger(config.log);
  const hasher = { ...createHasher({ workers: 1 }), verify: async () => true };
  resources.defer(() => hasher.close());
  const app = createApp({
    config,
    keys,
    database,
    hasher,
    passkeyFeature: null,
    logger,
    isStopping: () => false,
  });
  app.listen({ hostname: config.host, port: config.port });
  resources.defer(async () => void (await app.stop(true)));
  const url = `http://127.0.0.1:${app.server?.port}`;
  if (!config.mail) throw new Error("The service sends no mail");
  const sender = startMailSender({
    ...keys,
    outbox: database.outbox,
    transport: await openSmtpTransport({ host: "127.0.0.1", port: mailServer.port }),
    from: config.mail.from,
    writeMail: createMails({ ...config.mail, publicUrl: url }),
    logger,
  });
  resources.defer(() => sender.close());

  const createUsers = async (name: string) => {
    const created: { readonly token: string; readonly email: string }[] = [];
    for (let index = 0; index <= rounds; index++) {
      const username = `${name}-${index}`;
      const email = `${username}@example.org`;
      const user = await database.users.create({ email, username, hashedPassword: "not verified" });
      created.push({ token: await tokens.sign(user), email });
    }
    return created;
  };
  const [ofTaken, ofFree] = [await createUsers("one"), await createUsers("two")];
  const at = (index: number, users: typeof ofTaken) => users[index] ?? { token: "", email: "" };
  const owned = resources.move();
  return {
    url,
    /** The token of a user, and an e-mail that another user has. */
    taken: (index: number) => ({ ...at(index, ofTaken), email: at(index, ofFree).email }),
    /** The token of another user, and an e-mail of the same length that nobody has. */
    free: (index: number) => ({ ...at(index, ofFree), email: `new-${index}@example.org` }),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
