/**
 * Assembles the server of the administration, which has a port of its own. It is loaded only if `ADMIN_PORT` is set, and shares with
 * the public server nothing but its resources: no CORS, no pages, no users' tokens.
 */
import type { AuditLine } from "@latchkey/administration";
import { type Digests, hasLocales } from "@latchkey/contracts";
import type { Database, EmailDigest } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { Config } from "./config.ts";
import { administrationOperations } from "./features/administration/operations.ts";
import { createAdministrationService } from "./features/administration/service.ts";
import { enabledOperations } from "./http/operation.ts";
import { expectNoParameters } from "./http/validator.ts";
import { apiKeyAuth, operatorOf } from "./middleware/api-key-auth.ts";
import { methodNotAllowed } from "./middleware/error-handler.ts";
import { registerOperations } from "./middleware/operations.ts";
import { createServer } from "./middleware/pipeline.ts";
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
  readonly observe?: ((request: RequestObservation) => void) | undefined;
  readonly isStopping: () => boolean;
}

const DOCUMENT_PATH = "/admin/openapi.json";
const NO_PATHS = new Set<string>();

export function createAdministrationApp(options: AdministrationAppOptions) {
  const { config, database, hasher, logger, isListedPassword, observe, isStopping } = options;
  const { store, digests } = options;
  const { accounts, rateLimits } = config;
  const { sendsMail, passwordMinLength, languages } = accounts;
  const counters = config.redisUrl === null ? "the memory of this replica" : "Redis";
  const features = enabledFeatures(config);
  const audit = (line: AuditLine) => logger.info(line, line.event);
  const operations = administrationOperations({
    service: createAdministrationService({
      database,
      hasher,
      audit,
      hasLocale: hasLocales(languages),
      rules: {
        sendsMail,
        requiresVerifiedEmail: accounts.requireVerifiedEmail,
        refusesInactive: config.tokenKeys.privateKey !== null,
        hasPasskeys: accounts.hasPasskeys,
        hasIdentities: accounts.hasIdentities,
        hasSecondFactor: accounts.hasSecondFactor,
      },
      limits: rateLimits && { store, digests, counters },
    }),
    passwordMinLength,
    isListedPassword,
    sendsMail,
    languages,
  });
  const app = createServer({
    idleTimeoutSeconds: config.idleTimeoutSeconds,
    corsOrigins: null,
    // No proxy is trusted: a client could choose the address by which its wrong keys are counted.
    trustProxy: null,
    gate: apiKeyAuth(config.administration?.keys ?? [], store),
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
    registerOperations(enabledOperations(operations, features), {
      authenticate: operatorOf,
      limiters: null,
      digestEmail: options.digestEmail,
    }),
  );
  let document: Promise<string> | undefined;
  app.get(DOCUMENT_PATH, async ({ request }) => {
    expectNoParameters(request.url);
    document ??= createAdministrationDocument(operations, features);
    return new Response(await document, { headers: { "content-type": "application/json" } });
  });
  return app.use(methodNotAllowed(app));
}
