/** Opens resources, creates the app and listens. Before `onListen`, a signal ends the process. */
import { dirname, join, resolve } from "node:path";
import type { FactorCipher } from "@latchkey/administration";
import { CliError, databaseError, EXIT } from "@latchkey/cli";
import { localUrl, type PasswordBlocklist } from "@latchkey/config";
import {
  type Database,
  type DatabaseOptions,
  databaseFile,
  openDatabase,
  parseRecoveryCodes,
} from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { createMails, openThreadedTransport } from "@latchkey/mail";
import { createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { enabledFeatures, LOGIN_METHODS } from "./features/optional-features.ts";
import { checkEventRetention, type EventPruning, startEventPruning } from "./lifecycle/event-retention.ts";
import type { FactorKeyOptions } from "./lifecycle/factor-key.ts";
import { listen } from "./lifecycle/listen.ts";
import { openSecretKey } from "./lifecycle/secret-key.ts";
import { createShutdown, type Shutdown } from "./lifecycle/shutdown.ts";
import { createFileTransport } from "./mail/file-transport.ts";
import { type MailSender, startMailSender } from "./mail/sender.ts";
import { createLogger, type Logger } from "./observability/logger.ts";
import { serveMetrics } from "./observability/metrics-server.ts";
import { timedDatabase } from "./observability/timed-database.ts";
import { logoPathOf } from "./pages/assets.ts";
import { openRedisStore } from "./rate-limit/redis-store.ts";
import { createMemoryStore } from "./rate-limit/store.ts";
import { importTokenKeys } from "./tokens/token-keys.ts";
import { VERSION } from "./version.ts";

export interface ServeContext {
  /** Called immediately before the port is opened. After this call, a signal starts `shutdown`. */
  readonly onListen: (shutdown: Shutdown) => void;
  readonly exit: (code: number) => void;
  /** Called when the service is ready. `administration`: the address of that API, or null. @default nothing */
  readonly onReady?:
    | ((urls: { readonly url: string; readonly administration: string | null }) => void)
    | undefined;
}

/** Time for clients to read the response that closes their connection (`middleware/pipeline.ts`). */
const CONNECTION_CLOSE_DELAY_MS = 100;

const ROOT = resolve(import.meta.dir, "../../..");

async function openMigrated(options: DatabaseOptions, logger: Logger) {
  const database = await openDatabase(options);
  const schema = await database.migrate((message) => logger.warn(message));
  if (schema === "newer")
    logger.warn("The database schema is newer than this release and compatible with it.");
  await database.checkIds();
  return { database, digestEmail: await database.digests.openEmailDigest() };
}

/** Without the feature, only a stored factor needs the module, which then refuses to start. */
async function openFactors(
  database: Database,
  factorKeys: Config["factorKeys"] | null,
  options: FactorKeyOptions,
): Promise<FactorCipher | null> {
  if (factorKeys === null && (await database.factors.listKeyIds()).length === 0) return null;
  const { openFactorCipher } = await import("./lifecycle/factor-key.ts");
  return openFactorCipher(database, factorKeys, options);
}

/** Converts an error of the database to one with an exit code, which is reported without a stack trace. */
const orExit = <Value>(work: Promise<Value>): Promise<Value> =>
  work.catch((error) => {
    throw error instanceof CliError ? error : databaseError(error, EXIT.dataError);
  });

/** @param isListedPassword see `createApp` */
export async function serve(
  config: Config,
  { isListed: isListedPassword }: Pick<PasswordBlocklist, "isListed">,
  { onListen, exit, onReady }: ServeContext,
): Promise<void> {
  const { logger, droppedLines } = await createLogger(config.log);
  for (const warning of config.warnings) logger.warn(warning);
  // The hasher is created first, because its workers measure kernels while the other resources are opened.
  const hasher = createHasher(config.hash);

  // A relative `file:` URL is resolved from the repository's root, regardless of the working directory.
  const { url: databaseUrl, poolSize, preparedStatements } = config.database;
  const location = { url: databaseUrl, poolSize, preparedStatements, baseDirectory: ROOT };
  const { database, digestEmail } = await orExit(openMigrated(location, logger));
  // Keys are imported after the database is opened: a wrong DATABASE_URL must not create a key in a foreign folder.
  const file = databaseFile(location);
  const folder = file === null ? join(ROOT, "data") : dirname(file);
  const keys = await importTokenKeys(config.tokenKeys, (algorithm) =>
    openSecretKey({ folder, algorithm, logger }),
  );
  const factorKeys = enabledFeatures(config).has("secondFactor") ? config.factorKeys : null;
  const factorCipher = await orExit(openFactors(database, factorKeys, { folder, logger }));
  const redisStore = config.redisUrl === null ? null : await openRedisStore({ url: config.redisUrl, logger });
  const store = redisStore ?? createMemoryStore();
  const observability = config.metrics && (await import("./observability/metrics.ts"));
  const metrics = observability?.createMetrics({
    users: database.users,
    outbox: database.outbox,
    events: database.events,
    hasher,
    poolSize: database.kind === "postgres" ? poolSize : null,
    loginMethods: LOGIN_METHODS,
    providers: config.variables.OIDC_PROVIDERS?.map(({ name }) => name) ?? [],
    droppedLines,
    isStoreShared: redisStore?.isShared,
  });

  const timed = metrics ? timedDatabase(database, metrics) : database;
  const { tokenExpireMinutes } = config.tokens;
  await orExit(checkEventRetention(database.events, { tokenExpireMinutes, logger }));
  const isStopping = () => shutdown.isStopping();
  const waiting = new AbortController();

  const app = await createApp({
    config,
    keys,
    database: timed,
    hasher,
    logger,
    factorCipher,
    digestEmail,
    isListedPassword,
    observe: metrics?.observeRequest,
    store,
    isStopping,
  });
  const administration =
    config.administration &&
    (await import("./administration-app.ts")).createAdministrationApp({
      config,
      database: timed,
      hasher,
      logger,
      digestEmail,
      isListedPassword,
      observe: metrics?.observeRequest,
      store,
      digests: keys.digests,
      eventCursors: keys.eventCursors,
      observeEvents: metrics?.accountEvents,
      isStopping,
      stopping: waiting.signal,
    });
  let eventPruning: EventPruning | null = null;
  let metricsServer: Bun.Server<unknown> | null = null;
  let mailSender: MailSender | null = null;
  let smtp: ReturnType<typeof openThreadedTransport> | null = null;
  const shutdown = createShutdown({
    delayMs: config.shutdown.delaySeconds * 1000,
    graceMs: config.shutdown.graceSeconds * 1000,
    logger,
    steps: [
      async () => {
        waiting.abort();
        // `stop()` closes idle connections at once, even if a request is in transit: let clients close connections first.
        await Bun.sleep(CONNECTION_CLOSE_DELAY_MS);
        await Promise.all([app.stop(), administration?.stop()]);
      },
      async () => mailSender?.close(),
      async () => smtp?.[Symbol.asyncDispose](),
      async () => eventPruning?.close(),
      async () => redisStore?.close(),
      () => hasher.close(),
      () => database.close(),
      async () => metricsServer?.stop(true),
    ],
    exit,
  });
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error) => {
      logger.fatal({ err: error }, event);
      shutdown.begin(event, EXIT.failed);
    });
  }

  await hasher.ready();
  onListen(shutdown);
  if (metrics && config.metrics)
    metricsServer = listen("METRICS_PORT", config.metrics, (address) => serveMetrics(metrics, address));
  if (administration && config.administration)
    listen("ADMIN_PORT", config.administration, (address) => administration.listen(address));
  listen("PORT", config, (address) => app.listen(address));
  eventPruning = startEventPruning(timed.events, { logger });
  const url = localUrl(config.host, app.server?.port);
  if (config.mail) {
    const { server, from, publicUrl, linkTemplates, product, color, languages, texts } = config.mail;
    smtp = server && openThreadedTransport({ server, from });
    mailSender = startMailSender({
      digests: keys.digests,
      oneTimeTokens: keys.oneTimeTokens,
      loginCodes: keys.loginCodes,
      factorStates: keys.factorStates,
      outbox: timed.outbox,
      transport: smtp ?? createFileTransport(join(folder, "outbox"), logger),
      from,
      listLogins: async (userId) => ({
        passkeys: await timed.passkeys.list(userId),
        identities: await timed.identities.list(userId),
      }),
      countRecoveryCodes: async (userId) => {
        const factor = await timed.factors.find(userId);
        return factor ? parseRecoveryCodes(factor).length : 0;
      },
      writeMail: createMails({
        publicUrl: publicUrl ?? url,
        logoPath: config.pages.logo && logoPathOf(config.pages.logo),
        linkTemplates,
        product,
        color,
        languages,
        texts,
      }),
      logger,
      observe: metrics?.observeMail,
    });
  } else
    logger.warn("MAIL_URL is not set: the routes of password resets and e-mail verifications return 404");
  const { kernel, fallbackReason, isNativeMissing, workers, capacityPerSecond, queueLimit } = hasher.stats();
  if (isNativeMissing)
    logger.warn(
      { kernel_fallback: fallbackReason },
      "this processor can verify passwords three to eight times as fast: run `bun run build:native`",
    );
  const administrationUrl = administration?.server
    ? `${localUrl(administration.server.hostname ?? "", administration.server.port)}/admin`
    : null;
  logger.info(
    {
      version: VERSION,
      url,
      docs: `${url}/docs`,
      ...(metricsServer && {
        metrics: `${localUrl(metricsServer.hostname ?? "", metricsServer.port)}/metrics`,
      }),
      ...(administrationUrl !== null && { administration: administrationUrl }),
      database: database.kind,
      kernel,
      kernel_fallback: fallbackReason,
      hash_workers: workers,
      hash_capacity_per_second: Math.round(capacityPerSecond * 10) / 10,
      hash_queue_limit: queueLimit,
    },
    "ready",
  );
  onReady?.({ url, administration: administrationUrl });
  if (config.log.format === "pretty") logger.info(`${url} and ${url}/docs are open. Press Ctrl-C to stop.`);
}
