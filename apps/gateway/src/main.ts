/** Environment → resources → app → listen → signals. The only reader of the environment, and the only caller of exit. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Database, type DatabaseOptions, databaseFile, openDatabase } from "@latchkey/database";
import { createHasher, kernels } from "@latchkey/hashing";
import { createApp } from "./app.ts";
import { type Config, ConfigurationError, parseConfig } from "./config/config.ts";
import { readOrCreateSecretKey } from "./config/secret-key.ts";
import { createLogger, type Logger } from "./logger.ts";
import { openSharedCounters } from "./quotas/redis.ts";
import { createShutdown } from "./shutdown.ts";

/** sysexits.h: EX_CONFIG, EX_UNAVAILABLE, EX_OSERR; each is explained in the README. */
const EXIT_CONFIGURATION = 78;
const EXIT_DATABASE = 69;
const EXIT_PORT = 71;

const ROOT = resolve(import.meta.dir, "../../..");

function fail(code: number, message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}

function readConfig(): Config {
  try {
    return parseConfig(process.env, {
      kernels: kernels().map(({ name }) => name),
      isTerminal: process.stdout.isTTY === true,
      readFile: (path) => readFileSync(path, "utf8"),
    });
  } catch (error) {
    if (error instanceof ConfigurationError) fail(EXIT_CONFIGURATION, error.message);
    throw error;
  }
}

/** The key beside the database's file, made when it is not there. */
function keptSecretKey(databasePath: string): string {
  const path = join(dirname(databasePath), "auth-secret-key");
  try {
    return readOrCreateSecretKey(path);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : "it is empty";
    fail(EXIT_CONFIGURATION, `AUTH_SECRET_KEY: is not set, and no key can be kept in ${path} (${reason})`);
  }
}

async function openMigrated(options: DatabaseOptions): Promise<Database> {
  const database = await openDatabase(options);
  await database.migrate();
  return database;
}

async function main(): Promise<void> {
  const config = readConfig();
  const logger: Logger = createLogger(config.log);
  for (const warning of config.warnings) logger.warn(warning);

  // A relative `file:` is meant from the repository's root, wherever the process was started.
  const location: DatabaseOptions = { ...config.database, baseDirectory: ROOT };
  const secretKey = config.auth.secretKey ?? keptSecretKey(databaseFile(location) ?? ROOT);
  const database = await openMigrated(location).catch((error: unknown) =>
    fail(EXIT_DATABASE, error instanceof Error ? error.message : "The database could not be opened."),
  );
  const hasher = createHasher({
    kernel: config.hash.kernel,
    ...(config.hash.workers !== null && { workers: config.hash.workers }),
    ...(config.hash.queueLimit !== null && { queueLimit: config.hash.queueLimit }),
  });

  const sharedCounters =
    config.redisUrl === null ? null : openSharedCounters({ url: config.redisUrl, logger });

  const app = createApp({
    config,
    secretKey,
    database,
    hasher,
    logger,
    ...(sharedCounters && { createCounters: sharedCounters.create }),
    isStopping: () => shutdown.isStopping(),
  });
  const shutdown = createShutdown({
    delayMs: config.shutdown.delaySeconds * 1000,
    graceMs: config.shutdown.graceSeconds * 1000,
    logger,
    steps: [
      async () => void (await app.stop()),
      async () => sharedCounters?.close(),
      () => hasher.close(),
      () => database.close(),
    ],
    exit: (code) => process.exit(code),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => shutdown.onSignal(signal));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error) => {
      logger.fatal({ err: error }, event);
      shutdown.begin(event, 1);
    });
  }

  try {
    app.listen({ hostname: config.host, port: config.port });
  } catch (error) {
    fail(EXIT_PORT, `PORT ${config.port} on ${config.host} cannot be used: ${String(error)}`);
  }
  const url = `http://${config.host.includes(":") ? `[${config.host}]` : config.host}:${app.server?.port}`;
  logger.info({ url, docs: `${url}/docs`, database: database.kind, kernel: hasher.stats().kernel }, "ready");
}

await main();
