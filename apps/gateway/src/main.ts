/** Environment → resources → app → listen → signals. The only reader of the environment, and the only caller of exit. */
import { readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Database, type DatabaseOptions, databaseFile, openDatabase } from "@latchkey/database";
import { createHasher, kernels } from "@latchkey/hashing";
import { createApp } from "./app.ts";
import { type Config, ConfigurationError, parseConfig } from "./config/config.ts";
import { describeConfig } from "./config/describe-config.ts";
import { readOrCreateSecretKey } from "./config/secret-key.ts";
import { createShutdown } from "./lifecycle/shutdown.ts";
import { databaseStartupError, EXIT, listen, StartupError } from "./lifecycle/startup-errors.ts";
import { createLogger, type Logger } from "./observability/logger.ts";
import { createMetrics } from "./observability/metrics.ts";
import { serveMetrics } from "./observability/metrics-server.ts";
import { timedDatabase } from "./observability/timed-database.ts";
import { openRedisStore } from "./rate-limit/redis-store.ts";

/** Long enough for a client in the midst of a conversation to get the answer that ends it (`middleware/connection-close.ts`). */
const CONNECTION_CLOSE_DELAY_MS = 100;

const ROOT = resolve(import.meta.dir, "../../..");

function readConfig(): Config {
  try {
    return parseConfig(process.env, {
      kernels: kernels().map(({ name }) => name),
      isTerminal: process.stdout.isTTY === true,
      readFile: (path) => readFileSync(path, "utf8"),
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw new StartupError(EXIT.configuration, error.message);
    throw error;
  }
}

/** Opens nothing and makes nothing: what is asked is what a start would work with. */
function checkConfig(config: Config): void {
  for (const warning of config.warnings) process.stderr.write(`${warning}\n`);
  process.stdout.write(describeConfig(config));
}

/** The key beside the database's file, made when it is not there. */
function keptSecretKey(location: DatabaseOptions): string {
  const path = join(dirname(databaseFile(location) ?? ROOT), "auth-secret-key");
  try {
    return readOrCreateSecretKey(path);
  } catch (error) {
    const reason = error instanceof Error && "code" in error ? error.code : "it is empty";
    const problem = `is not set, and no key can be kept in ${path} (${reason})`;
    throw new StartupError(EXIT.configuration, `AUTH_SECRET_KEY: ${problem}`);
  }
}

async function openMigrated(options: DatabaseOptions): Promise<Database> {
  try {
    const database = await openDatabase(options);
    await database.migrate();
    return database;
  } catch (error) {
    throw databaseStartupError(error);
  }
}

async function serve(config: Config): Promise<void> {
  const logger: Logger = createLogger(config.log);
  for (const warning of config.warnings) logger.warn(warning);

  // A relative `file:` is meant from the repository's root, wherever the process was started.
  const location: DatabaseOptions = { ...config.database, baseDirectory: ROOT };
  const secretKey = config.auth.secretKey ?? keptSecretKey(location);
  const database = await openMigrated(location);
  const hasher = createHasher({
    kernel: config.hash.kernel,
    nice: config.hash.nice,
    ...(config.hash.workers !== null && { workers: config.hash.workers }),
    ...(config.hash.queueLimit !== null && { queueLimit: config.hash.queueLimit }),
  });
  const redisStore = config.redisUrl === null ? null : await openRedisStore({ url: config.redisUrl, logger });
  const metrics = config.metrics && createMetrics({ hasher, poolSize: config.database.poolSize });

  const app = createApp({
    config,
    secretKey,
    database: metrics ? timedDatabase(database, metrics) : database,
    hasher,
    logger,
    ...(metrics && { observe: metrics.observeRequest }),
    ...(redisStore && { createStore: redisStore.create }),
    isStopping: () => shutdown.isStopping(),
  });
  const drain = async (): Promise<void> => {
    // Connections without a request are closed at once, also under one that is on its way: their clients are told first.
    await Bun.sleep(CONNECTION_CLOSE_DELAY_MS);
    await app.stop();
  };
  const shutdown = createShutdown({
    delayMs: config.shutdown.delaySeconds * 1000,
    graceMs: config.shutdown.graceSeconds * 1000,
    logger,
    steps: [
      drain,
      async () => redisStore?.close(),
      () => hasher.close(),
      () => database.close(),
      async () => metricsServer?.stop(true),
    ],
    exit: (code) => process.exit(code),
  });
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => shutdown.onSignal(signal));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error) => {
      logger.fatal({ err: error }, event);
      shutdown.begin(event, EXIT.failure);
    });
  }

  const metricsServer = metrics && config.metrics ? serveMetrics({ ...config.metrics, metrics }) : null;
  const { host, port } = config;
  listen({ variable: "PORT", host, port, open: () => app.listen({ hostname: host, port }) });
  await hasher.ready();
  const { kernel, fallbackReason, workers, capacityPerSecond, queueLimit } = hasher.stats();
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${app.server?.port}`;
  logger.info(
    {
      url,
      docs: `${url}/docs`,
      ...(metricsServer && { metrics: new URL("/metrics", metricsServer.url).href }),
      database: database.kind,
      kernel,
      kernel_fallback: fallbackReason,
      hash_workers: workers,
      hash_capacity_per_second: Math.round(capacityPerSecond * 10) / 10,
      hash_queue_limit: queueLimit,
    },
    "ready",
  );
}

async function main([argument, ...others]: readonly string[]): Promise<void> {
  if (others.length > 0 || ![undefined, "--check-config"].includes(argument)) {
    throw new StartupError(EXIT.usage, "Usage: bun start [--check-config]");
  }
  const config = readConfig();
  if (argument === undefined) await serve(config);
  else checkConfig(config);
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof StartupError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exit(error.exitCode);
}
