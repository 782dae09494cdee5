/**
 * Assembles the server of the administration, which has a port of its own. It is loaded only if `ADMIN_PORT` is set, and shares with
 * the public server nothing but its resources: no CORS, no pages, no users' tokens.
 */
import type { AuditLine } from "@latchkey/administration";
import { hasLocales } from "@latchkey/contracts";
import type { Database, EmailDigest } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { Digests } from "@latchkey/limits";
import type { Config } from "./config.ts";
import type { Feature, Features } from "./feature-flags.ts";
import { administrationOperations } from "./features/administration/operations.ts";
import { createAdministrationService } from "./features/administration/service.ts";
import { createEventFeed } from "./features/events/feed.ts";
import { eventOperations } from "./features/events/operations.ts";
import { enabledFeatures } from "./features/optional-features.ts";
import { enabledOperations } from "./http/operation.ts";
import { expectNoParameters } from "./http/validator.ts";
import { apiKeyAuth, operatorOf } from "./middleware/api-key-auth.ts";
import { methodNotAllowed } from "./middleware/error-handler.ts";
import { registerOperations } from "./middleware/operations.ts";
import { createServer } from "./middleware/pipeline.ts";
import type { EventObserver } from "./observability/event-metrics.ts";
import type { Logger } from "./observability/logger.ts";
import type { RequestObservation } from "./observability/metrics.ts";
import { createAdministrationDocument } from "./openapi/administration-document.ts";
import type { Store } from "./rate-limit/store.ts";
import type { EventCursors } from "./tokens/event-cursors.ts";

interface AdministrationAppOptions {
  readonly config: Config;
  readonly database: Database;
  readonly hasher: Pick<Hasher, "hash">;
  readonly logger: Logger;
  readonly digestEmail: EmailDigest;
  readonly isListedPassword: (password: string) => boolean;
  /** Counts wrong keys. The public server counts attempts in the same store. */
  readonly store: Store;
  readonly digests: Digests;
  readonly eventCursors: EventCursors;
  /** Called for each request, after the response. */
  readonly observe?: ((request: RequestObservation) => void) | undefined;
  readonly observeEvents?: EventObserver | undefined;
  readonly isStopping: () => boolean;
  /** Aborted when requests must not wait for events any more. */
  readonly stopping: AbortSignal;
}

const DOCUMENT_PATH = "/admin/openapi.json";
const NO_PATHS = new Set<string>();

export function createAdministrationApp(options: AdministrationAppOptions) {
  const { config, database, hasher, logger, isListedPassword, observe, isStopping } = options;
  const { store, digests, eventCursors, observeEvents, stopping } = options;
  const { accounts, rateLimits } = config;
  const { sendsMail, passwordMinLength, languages } = accounts;
  const counters = config.redisUrl === null ? "the memory of this replica" : "Redis";
  const features = new Set<Feature>(enabledFeatures(config));
  if (config.administration?.keys.some(({ scope }) => scope !== "all")) features.add("restrictedKeys");
  const audit = (line: AuditLine) => logger.info(line, line.event);
  const feed = createEventFeed({
    events: database.events,
    eventCursors,
    idleTimeoutSeconds: config.idleTimeoutSeconds,
    stopping,
    observe: observeEvents,
  });
  const userOperations = administrationOperations({
    service: createAdministrationService({
      database,
      hasher,
      audit,
      hasLocale: hasLocales(languages),
      rules: {
        sendsMail,
        requiresVerifiedEmail: accounts.requireVerifiedEmail,
        refusesInactive: config.tokenKeys.privateKey !== null,
        hasPasskeys: features.has("passkeys"),
        hasIdentities: features.has("identities"),
        hasSecondFactor: features.has("secondFactor"),
      },
      limits: rateLimits && { store, digests, counters },
    }),
    passwordMinLength,
    isListedPassword,
    sendsMail,
    languages,
  });
  const operations = [...userOperations, ...eventOperations(feed)];
  const withEvents = new Set([...features, "accountEvents" as const]);
  const app = createServer({
    idleTimeoutSeconds: config.idleTimeoutSeconds,
    corsOrigins: null,
    // No proxy is trusted: a client could choose the address by which its wrong keys are counted.
    trustProxy: null,
    gate: apiKeyAuth({ keys: config.administration?.keys ?? [], operations, store }),
    logger,
    logsPaths: config.log.format === "pretty",
    probePaths: NO_PATHS,
    assetPaths: NO_PATHS,
    silentPaths: NO_PATHS,
    observe,
    secureTransport: config.environment === "production",
    isStopping,
  });
  app.use(
    registerOperations(enabledOperations(operations, withEvents), {
      authenticate: operatorOf,
      limiters: null,
      digestEmail: options.digestEmail,
    }),
  );
  const documents = new Map<Features, Promise<string>>();
  app.get(DOCUMENT_PATH, async ({ request }) => {
    expectNoParameters(request.url);
    // Events can be turned on and off while the service runs.
    const described = (await feed.isRecording()) ? withEvents : features;
    const document = documents.get(described) ?? createAdministrationDocument(operations, described);
    documents.set(described, document);
    return new Response(await document, { headers: { "content-type": "application/json" } });
  });
  return app.use(methodNotAllowed(app));
}
