/**
 * A whole service for one test: real layers, a real socket on a port of its own, a database of its own, disposed with
 * `await using`. What a test may replace is handed in; the configuration always goes through the service's own reader.
 */
import { afterAll, beforeAll, describe } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { type Database, openDatabase } from "@latchkey/database";
import { createHasher, type Hasher, kernels } from "@latchkey/hashing";
import { openFolder } from "@latchkey/testing/folder";
import { refuseSecrets } from "@latchkey/testing/log-guard";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { querySqlite } from "@latchkey/testing/sqlite";
import pino from "pino";
import { createApp } from "../../src/app.ts";
import { type Config, parseConfig } from "../../src/config/config.ts";
import { LOG_SERIALIZERS } from "../../src/observability/logger.ts";
import { cheapHasher } from "./cheap-hasher.ts";
import { type Answer, type CallOptions, callService } from "./client.ts";
import { assertDocumented } from "./openapi-assertion.ts";
import { exchangeBytes } from "./raw.ts";

export { SECRET_KEY };

/** An empty, migrated database of its own, and the prompt at which an operator would change it. */
export interface ServiceDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** Runs SQL as another client of the database. */
  query<Row>(sql: string): Promise<Row[]>;
}

/** Where databases come from while a block of tests runs: nothing for files, a server for PostgreSQL. */
interface Backend extends AsyncDisposable {
  openDatabase(): Promise<ServiceDatabase>;
}

async function openMigrated(url: string): Promise<Database> {
  const database = await openDatabase({ url });
  await database.migrate();
  return database;
}

/** A migrated database file in a folder of its own. */
export async function openLibsqlFile(): Promise<ServiceDatabase> {
  const folder = await openFolder();
  const database = await openMigrated(folder.databaseUrl);
  return {
    url: folder.databaseUrl,
    database,
    query: (sql) => querySqlite(folder.databaseUrl, sql),
    async [Symbol.asyncDispose]() {
      await database.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

/** Every database that the service's tests run on. */
export const DATABASES: Readonly<Record<string, () => Promise<Backend>>> = {
  libsql: async () => ({ openDatabase: openLibsqlFile, [Symbol.asyncDispose]: async () => {} }),
  postgres: async () => {
    const server = await startPostgresServer();
    return {
      openDatabase: async () => {
        const url = await server.createDatabase();
        const database = await openMigrated(url);
        return {
          url,
          database,
          query: (sql) => server.query(sql, url),
          [Symbol.asyncDispose]: () => database.close(),
        };
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    };
  },
};

export interface ServiceOptions {
  /** @default a libsql file */
  readonly openDatabase?: () => Promise<ServiceDatabase>;
  /** Variables beside the fixture's own: limits off, one hash worker, a fixed key; undefined unsets one. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** "cheap" derives with one iteration, in the same workers through the same queue. @default "cheap" */
  readonly hashing?: "cheap" | "production";
  /** Puts something before the database or the hasher, to make them fail or wait. */
  readonly wrapDatabase?: (database: Database) => Database;
  readonly wrapHasher?: (hasher: Hasher) => Hasher;
  readonly isStopping?: () => boolean;
  readonly idleTimeoutSeconds?: number;
}

export interface Credentials {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

/** A registered account with a fresh token. */
export interface Person extends Credentials {
  readonly id: number;
  readonly token: string;
  readonly user: User;
}

export type LogLine = Readonly<Record<string, unknown>>;

export interface Service extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly config: Config;
  readonly database: Database;
  readonly hasher: Hasher;
  /** Everything logged so far, from debug up, parsed. */
  readonly log: readonly LogLine[];
  /** A plain fetch of a path; its response, like that of `call`, is checked against the OpenAPI document. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** `call("POST", "/todos", { body, token, headers })`: JSON out, the whole answer back. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Sends bytes as they are and gives every byte of the answer; the request must ask for `Connection: close`. */
  raw(bytes: string | Uint8Array): Promise<string>;
  /** Runs SQL as another client of the database. */
  sql<Row>(query: string): Promise<Row[]>;
  /** Registers somebody whose names nobody else has. */
  register(person?: Partial<Credentials>): Promise<Credentials & { readonly user: User }>;
  login(credentials: { readonly email: string; readonly password: string }): Promise<string>;
  /** Registers and logs in. */
  person(person?: Partial<Credentials>): Promise<Person>;
}

/** Runs the same tests on every database, each in a block `on <database>`. */
export function eachDatabase(tests: (startOn: typeof startService) => void): void {
  for (const [kind, start] of Object.entries(DATABASES)) {
    describe(`on ${kind}`, () => {
      const stack = new AsyncDisposableStack();
      let backend: Backend;
      beforeAll(async () => {
        backend = stack.use(await start());
      });
      afterAll(() => stack.disposeAsync());
      tests((options) => startService({ openDatabase: () => backend.openDatabase(), ...options }));
    });
  }
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { openDatabase = openLibsqlFile, hashing = "cheap" } = options;
  const scratch = await openDatabase();
  const config = readConfig({ DATABASE_URL: scratch.url, ...options.env });
  const hasher = createHasher({
    kernel: config.hash.kernel,
    ...(config.hash.workers !== null && { workers: config.hash.workers }),
    ...(config.hash.queueLimit !== null && { queueLimit: config.hash.queueLimit }),
  });
  const chosenHasher = hashing === "cheap" ? cheapHasher(hasher) : hasher;
  const log: LogLine[] = [];
  const app = createApp({
    config,
    secretKey: config.auth.secretKey ?? SECRET_KEY,
    database: options.wrapDatabase?.(scratch.database) ?? scratch.database,
    hasher: options.wrapHasher?.(chosenHasher) ?? chosenHasher,
    logger: pino(
      { level: config.log.level, base: null, serializers: LOG_SERIALIZERS },
      { write: (line) => log.push(JSON.parse(line)) },
    ),
    isStopping: options.isStopping ?? (() => false),
    ...(options.idleTimeoutSeconds !== undefined && { idleTimeoutSeconds: options.idleTimeoutSeconds }),
  });
  app.listen({ hostname: config.host, port: config.port });
  const port = app.server?.port ?? 0;
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;

  const call = async (method: string, path: string, callOptions: CallOptions = {}) => {
    const answer = await callService(url + path, method, callOptions);
    await assertDocumented(startService, { method, path }, answer);
    return answer;
  };
  const register = async (given: Partial<Credentials> = {}) => {
    const person = { ...newCredentials(), ...given };
    const answer = await call("POST", "/auth/register", { body: person });
    return { ...person, user: answer.expect<User>(201) };
  };
  const login = async ({ email, password }: Pick<Credentials, "email" | "password">) => {
    const answer = await call("POST", "/auth/login", { body: { email, password } });
    return answer.expect<Token>(200).access_token;
  };

  return {
    url,
    port,
    config,
    database: scratch.database,
    hasher,
    log,
    async request(path, init) {
      const answer = await fetch(url + path, init);
      const { status, headers } = answer;
      const text = await answer.clone().text();
      await assertDocumented(
        startService,
        { method: init?.method ?? "GET", path },
        { status, headers, text },
      );
      return answer;
    },
    call,
    raw: (bytes) => exchangeBytes({ hostname: config.host, port }, bytes),
    sql: (query) => scratch.query(query),
    register,
    login,
    async person(given) {
      const person = await register(given);
      return { ...person, id: person.user.id, token: await login(person) };
    },
    async [Symbol.asyncDispose]() {
      await app.stop(true);
      await hasher.close();
      await scratch[Symbol.asyncDispose]();
      refuseSecrets(log);
    },
  };
}

function readConfig(env: Readonly<Record<string, string | undefined>>): Config {
  const variables = {
    NODE_ENV: "test",
    PORT: "0",
    AUTH_SECRET_KEY: SECRET_KEY,
    HASH_WORKERS: "1",
    LOG_LEVEL: "debug",
    RATE_LIMIT_ENABLED: "false",
    ...env,
  };
  return parseConfig(variables, {
    kernels: kernels().map(({ name }) => name),
    isTerminal: false,
    readFile: () => {
      throw new Error("The fixture reads no files");
    },
  });
}

let made = 0;

/** Names that no other person of this process has. */
export function newCredentials(): Credentials {
  made += 1;
  return { email: `person${made}@example.org`, username: `person${made}`, password: "correct horse battery" };
}
