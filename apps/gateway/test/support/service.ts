/**
 * The complete service for one test: all middleware, a socket on a free port and a new database, disposed with
 * `await using`. Tests can replace parts through options; the configuration is always parsed by the service's parser.
 */
import { afterAll, beforeAll, describe } from "bun:test";
import type { Token, User } from "@latchkey/contracts";
import { type Database, openDatabase } from "@latchkey/database";
import { createHasher, type Hasher, kernels } from "@latchkey/hashing";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { assertNoSecrets } from "@latchkey/testing/log-guard";
import { querySqlite } from "@latchkey/testing/sqlite";
import pino from "pino";
import { createApp } from "../../src/app.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import { LOG_SERIALIZERS } from "../../src/observability/logger.ts";
import type { CreateBudgetStore, CreateStore } from "../../src/rate-limit/store.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { cheapHasher } from "./cheap-hasher.ts";
import { type CallOptions, type ClientResponse, callService } from "./client.ts";
import { assertDocumented } from "./openapi/assertion.ts";
import { exchangeBytes } from "./raw.ts";
import { sharedHasher, sharedPostgresServer } from "./shared-resources.ts";

export { SECRET_KEY };

/** An empty, migrated database, which a test can also change with SQL. */
interface ServiceDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** Runs SQL as another client of the database. */
  query<Row>(sql: string): Promise<Row[]>;
}

/** Creates a migrated database file in a temporary folder. */
export async function openLibsqlFile(): Promise<ServiceDatabase> {
  const folder = await openFolder();
  const database = await openDatabase({ url: folder.databaseUrl });
  await database.migrate();
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

async function openPostgresDatabase(): Promise<ServiceDatabase> {
  const server = await sharedPostgresServer();
  const url = await server.createMigrated();
  const database = await openDatabase({ url });
  return {
    url,
    database,
    query: (sql) => server.query(sql, url),
    [Symbol.asyncDispose]: () => database.close(),
  };
}

/** The databases on which the service is tested. */
const DATABASES = { libsql: openLibsqlFile, postgres: openPostgresDatabase } as const;

export interface ServiceOptions {
  /** @default a libsql file */
  readonly openDatabase?: () => Promise<ServiceDatabase>;
  /** Overrides the defaults: no rate limits, one hash worker, a fixed key; undefined unsets a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /**
   * "cheap" runs one iteration per derivation, in a queue that all services share unless `env` sets a variable of the hasher.
   * @default "cheap"
   */
  readonly hashing?: "cheap" | "production";
  /** Wraps the database or the hasher, to make calls fail or wait. */
  readonly wrapDatabase?: (database: Database) => Database;
  readonly wrapHasher?: (hasher: Hasher) => Hasher;
  readonly createStore?: CreateStore;
  readonly createBudgetStore?: CreateBudgetStore;
  readonly rejectionDelayMs?: number;
  readonly isStopping?: () => boolean;
  readonly idleTimeoutSeconds?: number;
}

export interface Credentials {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

/** A registered user with a token. */
export interface TestUser extends Credentials {
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
  /** Completed derivations since the start of this service. */
  derivations(): number;
  /** All parsed log lines so far, from level debug. */
  readonly log: readonly LogLine[];
  /** Fetches a path; the response is validated against the OpenAPI document, as in `call`. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** `call("POST", "/todos", { body, token, headers })`: sends JSON and returns the complete response. */
  call(method: string, path: string, options?: CallOptions): Promise<ClientResponse>;
  /** Sends bytes unchanged and returns all bytes of the response; the request must contain `Connection: close`. */
  raw(bytes: string | Uint8Array): Promise<string>;
  /** Runs SQL as another client of the database. */
  sql<Row>(query: string): Promise<Row[]>;
  /** Registers a user with a unique e-mail address and username. */
  register(credentials?: Partial<Credentials>): Promise<Credentials & { readonly user: User }>;
  login(credentials: { readonly email: string; readonly password: string }): Promise<string>;
  /** Registers and logs in. */
  createUser(credentials?: Partial<Credentials>): Promise<TestUser>;
}

/** Runs the same tests on every database, each in a block named `on <database>`. */
export function eachDatabase(tests: (startOn: typeof startService) => void): void {
  for (const [kind, openDatabase] of Object.entries(DATABASES))
    describe(`on ${kind}`, () => tests((options) => startService({ openDatabase, ...options })));
}

/** Starts one service for all tests of the enclosing file or block, which must not depend on its data. */
export function shareService(options?: ServiceOptions): () => Service {
  let service: Service | undefined;
  beforeAll(async () => {
    service = await startService(options);
  });
  afterAll(() => service?.[Symbol.asyncDispose]());
  return () => {
    if (!service) throw new Error("The shared service is used outside of a test");
    return service;
  };
}

export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const { openDatabase = openLibsqlFile, hashing = "cheap" } = options;
  const testDatabase = await openDatabase();
  const config = readConfig({ DATABASE_URL: testDatabase.url, ...options.env });
  const isShared =
    hashing === "cheap" && !Object.keys(options.env ?? {}).some((name) => name.startsWith("HASH_"));
  const hasher = isShared ? sharedHasher() : createHasher(config.hash);
  const chosenHasher = hashing === "cheap" ? cheapHasher(hasher) : hasher;
  const derivationsBefore = hasher.stats().completed;
  const log: LogLine[] = [];
  const app = createApp({
    config,
    keys: await importTokenKeys({ ...config.auth, openSecretKey: () => SECRET_KEY }),
    database: options.wrapDatabase?.(testDatabase.database) ?? testDatabase.database,
    hasher: options.wrapHasher?.(chosenHasher) ?? chosenHasher,
    logger: pino(
      { level: config.log.level, base: null, serializers: LOG_SERIALIZERS },
      { write: (line) => log.push(JSON.parse(line)) },
    ),
    isStopping: options.isStopping ?? (() => false),
    ...(options.createStore && { createStore: options.createStore }),
    ...(options.createBudgetStore && { createBudgetStore: options.createBudgetStore }),
    ...(options.rejectionDelayMs !== undefined && { rejectionDelayMs: options.rejectionDelayMs }),
    ...(options.idleTimeoutSeconds !== undefined && { idleTimeoutSeconds: options.idleTimeoutSeconds }),
  });
  app.listen({ hostname: config.host, port: config.port });
  const port = app.server?.port ?? 0;
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${port}`;

  const call = async (method: string, path: string, callOptions: CallOptions = {}) => {
    const response = await callService(url + path, method, callOptions);
    await assertDocumented(startService, { method, path }, response);
    return response;
  };
  const register = async (given: Partial<Credentials> = {}) => {
    const credentials = { ...newCredentials(), ...given };
    const response = await call("POST", "/auth/register", { body: credentials });
    return { ...credentials, user: response.expect<User>(201) };
  };
  const login = async ({ email, password }: Pick<Credentials, "email" | "password">) => {
    const response = await call("POST", "/auth/login", { body: { email, password } });
    return response.expect<Token>(200).access_token;
  };

  return {
    url,
    port,
    config,
    database: testDatabase.database,
    hasher,
    derivations: () => hasher.stats().completed - derivationsBefore,
    log,
    async request(path, init) {
      const response = await fetch(url + path, init);
      const { status, headers } = response;
      const text = await response.clone().text();
      await assertDocumented(
        startService,
        { method: init?.method ?? "GET", path },
        { status, headers, text },
      );
      return response;
    },
    call,
    raw: (bytes) => exchangeBytes({ hostname: config.host, port }, bytes),
    sql: (query) => testDatabase.query(query),
    register,
    login,
    async createUser(given) {
      const { user, ...credentials } = await register(given);
      return { ...credentials, user, id: user.id, token: await login(credentials) };
    },
    async [Symbol.asyncDispose]() {
      await app.stop(true);
      if (!isShared) await hasher.close();
      await testDatabase[Symbol.asyncDispose]();
      assertNoSecrets(log);
    },
  };
}

/** The configuration of the services under test. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = {}): Config {
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
      throw new Error("The test service reads no files");
    },
  });
}

let created = 0;

/** Returns an e-mail address and username that are unique in this process. */
export function newCredentials(): Credentials {
  created += 1;
  return {
    email: `user${created}@example.org`,
    username: `user${created}`,
    password: "correct horse battery",
  };
}
