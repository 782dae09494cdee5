/**
 * Assembles the server of the administration, which has a port of its own. It is loaded only if `ADMIN_PORT` is set, and shares with
 * the public server nothing but its resources: no CORS, no pages, no users' tokens.
 */
import type { AuditLine } from "@latchkey/administration";
import type { Digests } from "@latchkey/contracts";
import type { Database, EmailDigest } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { Config } from "./config.ts";
import { createRouter } from "./elysia/workarounds.ts";
import { createApiKeys } from "./features/administration/api-keys.ts";
import { administrationOperations } from "./features/administration/operations.ts";
import { createAdministrationService } from "./features/administration/service.ts";
import { enabledOperations } from "./http/operation.ts";
import { createAccessLog } from "./middleware/access-log.ts";
import { apiKeyAuth, operatorOf } from "./middleware/api-key-auth.ts";
import { fallbackErrorHandler, methodNotAllowed } from "./middleware/error-handler.ts";
import { registerOperations } from "./middleware/operations.ts";
import { createPipeline } from "./middleware/pipeline.ts";
import { secureHeaders } from "./middleware/secure-headers.ts";
import type { Logger } from "./observability/logger.ts";
import type { RequestObservation } from "./observability/metrics.ts";
import { createAdministrationDocument } from "./openapi/administration-document.ts";
import { enabledFeatures } from "./optional-features.ts";
import type { Store } from "./rate-limit/store.ts";

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
  /** Called for each request, after the response. */
  readonly observe?: (request: RequestObservation) => void;
  readonly isStopping: () => boolean;
}

const DOCUMENT_PATH = "/admin/openapi.json";
const never = () => false;

export function createAdministrationApp(options: AdministrationAppOptions) {
  const { config, database, hasher, logger, isListedPassword, observe, isStopping } = options;
  const { store, digests } = options;
  const sendsMail = config.mail !== null;
  const counters = config.redisUrl === null ? "the memory of this replica" : "Redis";
  const features = enabledFeatures(config);
  const audit = (line: AuditLine) => logger.info(line, line.event);
  const operations = administrationOperations({
    service: createAdministrationService({
      database,
      hasher,
      audit,
      rules: {
        sendsMail,
        requiresVerifiedEmail: config.auth.requireVerifiedEmail,
        refusesInactive: config.auth.privateKey !== null,
        hasPasskeys: config.auth.hasPasskeys,
        hasIdentities: config.auth.hasIdentities,
      },
      limits: config.rateLimits && { store, digests, counters },
    }),
    passwordMinLength: config.auth.passwordMinLength,
    isListedPassword,
    sendsMail,
  });
  const log = createAccessLog({
    logger,
    isProbe: never,
    isAsset: never,
    logsPaths: config.log.format === "pretty",
    observe,
  });
  const peerAddress = (request: Request): string | undefined => app.server?.requestIP(request)?.address;

  const pipeline = createPipeline({
    corsOrigins: null,
    // No proxy is trusted: a client could choose the address by which its wrong keys are counted.
    trustProxy: null,
    gate: apiKeyAuth(createApiKeys(config.administration?.keys ?? [], store)),
    logger,
    log,
    defaultHeaders: secureHeaders({ secureTransport: config.environment === "production" }),
    isStopping,
    peerAddress,
    skipLogging: never,
    isObserved: observe !== undefined,
  });
  const app = createRouter(config.idleTimeoutSeconds, fallbackErrorHandler(logger));
  for (const step of pipeline) app.use(step);
  app.use(
    registerOperations(enabledOperations(operations, features), {
      authenticate: operatorOf,
      limiters: null,
      digestEmail: options.digestEmail,
    }),
  );
  let document: Promise<string> | undefined;
  app.get(DOCUMENT_PATH, async () => {
    document ??= createAdministrationDocument(operations, features);
    return new Response(await document, { headers: { "content-type": "application/json" } });
  });
  return app.use(methodNotAllowed(app));
}
