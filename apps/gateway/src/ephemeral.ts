/** The service of an application's tests: a new database in a temporary folder, free ports, and mails as files. */
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Variables } from "@latchkey/config";

export interface EphemeralService {
  /** The given variables, except those that decide where the service listens and stores. */
  readonly variables: Variables;
  /**
   * What tests need, as one line of JSON. `url`: of the service, `administration`: of the API of administration, or null; `database`: the
   * `DATABASE_URL` for the admin tool.
   */
  describe(urls: { readonly url: string; readonly administration: string | null }): string;
}

/** Creates the folder, which is removed when the process exits. */
export function createEphemeralService(given: Variables): EphemeralService {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const key = randomBytes(32).toString("base64url");
  const port = String(findFreePort());
  const url = `http://127.0.0.1:${port}`;
  const hasHostedLogin = given.LOGIN_CLIENTS !== undefined || given.LOGIN_CLIENTS_FILE !== undefined;
  const database = `file:${join(folder, "latchkey.db")}`;
  const own: Variables = {
    NODE_ENV: "test",
    HOST: "127.0.0.1",
    PORT: port,
    PUBLIC_URL: url,
    ...(hasHostedLogin && { AUTH_ISSUER: url }),
    DATABASE_URL: database,
    ADMIN_HOST: "127.0.0.1",
    ADMIN_PORT: "0",
    ADMIN_API_KEYS: `tests:${key}`,
    MAIL_URL: undefined,
    REDIS_URL: undefined,
    METRICS_PORT: undefined,
  };
  const files = Object.keys(own).map((name) => [`${name}_FILE`, undefined]);
  const variables = { LOG_LEVEL: "silent", ...given, ...own, ...Object.fromEntries(files) };
  const outbox = join(folder, "outbox");
  // Tests can list it before the first mail.
  mkdirSync(outbox, { mode: 0o700 });
  return {
    variables,
    describe: ({ url, administration }) =>
      `${JSON.stringify({ url, outbox, database, administration: administration && { url: administration, key } })}\n`,
  };
}

/** Another process could take the port before the service listens, but the address must be known before: tokens state it as issuer. */
function findFreePort(): number {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
  listener.stop(true);
  return listener.port;
}
