/**
 * The complete service for one test: all middleware, a socket on a free port and a new database, disposed with
 * `await using`. Tests can replace parts through options; the configuration is always parsed by the service's parser.
 */
import { afterAll, beforeAll, describe, test } from "bun:test";
import { createFactorCipher } from "@latchkey/administration";
import { localUrl } from "@latchkey/config";
import type { Token, User } from "@latchkey/contracts";
import { type Database, DatabaseUnavailable, openDatabase } from "@latchkey/database";
import { createHasher, type Hasher, kernels } from "@latchkey/hashing";
import { type FullRun, inFullRun } from "@latchkey/testing/full-run";
import { FACTOR_KEY, SECRET_KEY } from "@latchkey/testing/keys";
import { assertNoSecrets } from "@latchkey/testing/log-guard";
import { openMigratedFolder } from "@latchkey/testing/migrated-file";
import { PATIENT_HASHING } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import pino from "pino";
import { createApp } from "../../src/app.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import { EVERYTHING } from "../../src/features/optional-features.ts";
import { LOG_SERIALIZERS } from "../../src/observability/logger.ts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import { cheapHasher } from "./cheap-hasher.ts";
import { type CallOptions, type ClientResponse, callService } from "./client.ts";
import {
  type Contract,
  createContract,
  type ReceivedResponse,
  type SentRequest,
} from "./openapi/contract.ts";
import { fetchDocument } from "./openapi/document.ts";
import { migratedPostgresServer, sharedHasher } from "./shared-resources.ts";
import { exchangeBytes } from "./wire.ts";

export { SECRET_KEY };

/** An empty, migrated database, which a test can also change with SQL. */
interface ServiceDatabase extends AsyncDisposable {
  readonly url: string;
  readonly database: Database;
  /** Runs SQL as another client of the database. */
  query<Row>(sql: string): Promise<Row[]>;
}

/** Creates a migrated database file in a temporary folder. */
async function openLibsqlFile(): Promise<ServiceDatabase> {
  const folder = await openMigratedFolder((url) => openDatabase({ url }));
  const database = await openDatabase({ url: folder.databaseUrl });
  return {
    url: folder.databaseUrl,
    database,
    query: (sql) => querySqlite(folder.databaseUrl, sql),
    async [Symbol.asyncDispose]() {
      // To close a file that exists collects all garbage of the process, which would take most of the time of all tests.
      await folder[Symbol.asyncDispose]();
      await database.close().catch((error) => {
        if (!(error instanceof DatabaseUnavailable)) throw error;
      });
    },
  };
}

async function openPostgresDatabase(): Promise<ServiceDatabase> {
  const server = await migratedPostgresServer();
  const emptied = await server.openEmptied();
  const { url, query } = emptied;
  const database = await openDatabase({ url });
  return {
    url,
    database,
    query,
    async [Symbol.asyncDispose]() {
      await database.close();
      await emptied[Symbol.asyncDispose]();
    },
  };
}

interface DatabaseMethods extends Partial<Pick<Database, "ping">> {
  readonly users?: Partial<Database["users"]>;
  readonly passkeys?: Partial<Database["passkeys"]>;
  readonly todos?: Partial<Database["todos"]>;
  readonly outbox?: Partial<Database["outbox"]>;
}

type AppOptions = Parameters<typeof createApp>[0];
type Provided = "config" | "keys" | "database" | "hasher" | "logger" | "digestEmail";

export interface ServiceOptions extends Partial<Omit<AppOptions, Provided>> {
  /** @default a libsql file */
  readonly openDatabase?: () => Promise<ServiceDatabase>;
  /** Overrides the defaults: no rate limits, one hash worker, a fixed key; undefined unsets a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Returns a configuration that variables cannot express. */
  readonly configure?: (config: Config) => Config;
  /**
   * "cheap" runs one iteration per derivation, in a queue that all services share unless `env` sets a variable of the hasher.
   * @default "cheap"
   */
  readonly hashing?: "cheap" | "production";
  /** Returns methods that replace those of the database or the hasher, to make calls fail or wait. */
  readonly wrapDatabase?: (database: Database) => DatabaseMethods;
  readonly wrapHasher?: (hasher: Hasher) => Partial<Hasher>;
}

/** Every feature that is off by default. */
export const EVERY_FEATURE = {
  AUTH_RENEWAL_DAYS: "30",
  AUTH_CLAIMS: "roles,email_verified,claims",
  PASSKEY_ORIGINS: "http://localhost:3000",
  AUTH_EMAIL_CHANGE: "true",
} as const;

/** Hosted login, for a web application and one on the user's machine. */
export const HOSTED_LOGIN = {
  PUBLIC_URL: "https://accounts.example.com",
  AUTH_ISSUER: "https://accounts.example.com",
  LOGIN_CLIENTS: JSON.stringify([
    { client_id: "web", name: "Example", redirect_uris: ["https://app.example.com/callback"] },
    {
      client_id: "native",
      name: "Example for computers",
      redirect_uris: ["http://127.0.0.1/callback", "com.example.app:/callback"],
    },
  ]),
} as const;

export interface Credentials {
  readonly email: string;
  readonly username: string;
  readonly password: string;
}

export type Service = Awaited<ReturnType<typeof startService>>;

/** A registered user with a token. */
export type TestUser = Awaited<ReturnType<Service["createUser"]>>;

export type LogLine = Readonly<Record<string, unknown>>;

/**
 * Runs the same tests on every database, each in a block named `on <database>`.
 * @param tests its second parameter declares tests of promises that no SQL can break alone: on PostgreSQL in the full run only
 */
export function eachDatabase(
  tests: (startOn: typeof startService, testOnce: FullRun<typeof test>) => void,
): void {
  for (const [kind, openDatabase] of Object.entries({
    libsql: openLibsqlFile,
    postgres: openPostgresDatabase,
  }))
    describe(`on ${kind}`, () =>
      tests(
        (options) => startService({ openDatabase, ...options }),
        kind === "libsql" ? test : inFullRun(test),
      ));
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

export async function startService({
  openDatabase = openLibsqlFile,
  env = {},
  configure = (config) => config,
  hashing = "cheap",
  wrapDatabase,
  wrapHasher,
  ...appOptions
}: ServiceOptions = {}) {
  const testDatabase = await openDatabase();
  const { database } = testDatabase;
  const config = configure(readConfig({ DATABASE_URL: testDatabase.url, ...env }));
  const isShared = hashing === "cheap" && !Object.keys(env).some((name) => name.startsWith("HASH_"));
  const hasher = isShared ? sharedHasher() : createHasher(config.hash);
  const chosenHasher = hashing === "cheap" ? cheapHasher(hasher) : hasher;
  const derivationsBefore = hasher.stats().completed;
  const replaced = wrapDatabase?.(database);
  const factorKey = config.variables.AUTH_SECOND_FACTOR ? config.factorKeys.key : null;
  const log: LogLine[] = [];
  const app = await createApp({
    config,
    keys: await importTokenKeys(config.tokenKeys, () => SECRET_KEY),
    database: {
      ...database,
      ...replaced,
      users: { ...database.users, ...replaced?.users },
      passkeys: { ...database.passkeys, ...replaced?.passkeys },
      todos: { ...database.todos, ...replaced?.todos },
      outbox: { ...database.outbox, ...replaced?.outbox },
    },
    hasher: { ...chosenHasher, ...wrapHasher?.(chosenHasher) },
    logger: pino(
      { level: config.log.level, base: null, serializers: LOG_SERIALIZERS },
      { write: (line) => log.push(JSON.parse(line)) },
    ),
    factorCipher: factorKey ? createFactorCipher([factorKey]) : null,
    digestEmail: await database.digests.openEmailDigest(),
    isStopping: () => false,
    ...appOptions,
  });
  app.listen({ hostname: config.host, port: config.port });
  const port = app.server?.port ?? 0;
  const url = localUrl(config.host, port);

  const call = async (method: string, path: string, options: CallOptions = {}): Promise<ClientResponse> => {
    const response = await callService(url + path, method, options);
    await assertDocumented({ method, path }, response);
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
    app,
    /** `http://127.0.0.1:PORT`, without a trailing slash. */
    url,
    port,
    config,
    database,
    hasher,
    /** Completed derivations since the start of this service. */
    derivations: () => hasher.stats().completed - derivationsBefore,
    /** All parsed log lines so far, from level debug. */
    log: log as readonly LogLine[],
    /** Fetches a path; the response is validated against the OpenAPI document, as in `call`. */
    async request(path: string, init?: RequestInit): Promise<Response> {
      const response = await fetch(url + path, init);
      const { status, headers } = response;
      const text = await response.clone().text();
      await assertDocumented({ method: init?.method ?? "GET", path }, { status, headers, text });
      return response;
    },
    /** `call("POST", "/todos", { body, token, headers })`: sends JSON and returns the complete response. */
    call,
    /** Sends bytes unchanged and returns all bytes of the response; the request must contain `Connection: close`. */
    raw: (bytes: string | Uint8Array) => exchangeBytes({ hostname: config.host, port }, bytes),
    /** Runs SQL as another client of the database. */
    sql: testDatabase.query,
    /** Registers a user with a unique e-mail address and username. */
    register,
    login,
    /** Registers and logs in. */
    async createUser(given?: Partial<Credentials>) {
      const { user, ...credentials } = await register(given);
      return { ...credentials, user, id: user.id, token: await login(credentials) };
    },
    /** As the database stores the user. */
    async readUser(id: number) {
      const user = await database.users.findById(id);
      if (!user) throw new Error(`No user ${id}`);
      return user;
    },
    async [Symbol.asyncDispose]() {
      await app.stop(true);
      if (!isShared) await hasher.close();
      await testDatabase[Symbol.asyncDispose]();
      assertNoSecrets(log);
    },
  };
}

let contract: Promise<Contract> | undefined;

/** Fails the test if the OpenAPI document, which is read once from another service, does not describe the response. */
async function assertDocumented(request: SentRequest, response: ReceivedResponse): Promise<void> {
  contract ??= readContract();
  const errors = (await contract)(request, response);
  if (errors.length > 0)
    throw new Error(`${request.method} ${request.path} does not match the document: ${errors.join("; ")}`);
}

async function readContract(): Promise<Contract> {
  await using service = await startService({ env: EVERYTHING });
  return createContract(await fetchDocument({ request: (path) => fetch(service.url + path) }));
}

/** The configuration of the services under test. */
export function readConfig(env: Readonly<Record<string, string | undefined>> = {}): Config {
  const variables = {
    NODE_ENV: "test",
    PORT: "0",
    AUTH_SECRET_KEY: SECRET_KEY,
    AUTH_FACTOR_KEY: FACTOR_KEY,
    HASH_WORKERS: "1",
    ...PATIENT_HASHING,
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
