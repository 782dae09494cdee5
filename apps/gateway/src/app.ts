/** The server on one screen: the layers in their order, then the features. Opens nothing; everything is handed in. */
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { Elysia } from "elysia";
import type { Config } from "./config/config.ts";
import { readAssets } from "./docs/pages/assets.ts";
import { documentRoutes } from "./docs/routes.ts";
import { authRoutes } from "./features/auth/routes.ts";
import { createAccounts } from "./features/auth/service.ts";
import { isLiveness, isProbe, probeRoutes } from "./features/probes/routes.ts";
import { createReadiness } from "./features/probes/service.ts";
import { todoRoutes } from "./features/todos/routes.ts";
import { createTodos } from "./features/todos/service.ts";
import { type AccessLog, accessLog, createAccessLog } from "./middleware/access-log.ts";
import { bodyLimit } from "./middleware/body-limit.ts";
import { clientAddress } from "./middleware/client-address.ts";
import { connectionClose } from "./middleware/connection-close.ts";
import { cors, preflight } from "./middleware/cors.ts";
import { errorHandler, fallbackErrorHandler } from "./middleware/error-handler.ts";
import { headDate } from "./middleware/head-date.ts";
import { createTokens } from "./middleware/jwt.ts";
import { methodNotAllowed } from "./middleware/method-not-allowed.ts";
import { createLimits, limitEveryRequest } from "./middleware/rate-limit.ts";
import { requestId } from "./middleware/request-id.ts";
import { secureHeaders } from "./middleware/secure-headers.ts";
import type { Logger } from "./observability/logger.ts";
import { createMemoryStore } from "./rate-limit/memory-store.ts";
import type { CreateStore } from "./rate-limit/store.ts";

export interface AppOptions {
  readonly config: Config;
  readonly secretKey: string;
  readonly database: Database;
  readonly hasher: Hasher;
  readonly logger: Logger;
  /** Where requests are counted. @default this process */
  readonly createStore?: CreateStore;
  /**
   * When a silent connection is closed, 1 to 255. The server exempts a request whose body has come whole, so whatever
   * waits for a hash may wait longer. @default 60
   */
  readonly idleTimeoutSeconds?: number;
  /** Told of every answer, beside the log. @default nobody */
  readonly observe?: AccessLog;
  /** Turns readiness off, and then connections too, before the process stops. */
  readonly isStopping: () => boolean;
}

/** Above the gateway's own limit, so that its envelope and not the server's bare 413 answers. */
const SERVER_MAX_BODY_BYTES = 16 * 1024 * 1024;

export function createApp({
  config,
  secretKey,
  database,
  hasher,
  logger,
  isStopping,
  idleTimeoutSeconds = 60,
  ...options
}: AppOptions) {
  const tokens = createTokens({ ...config.auth, secretKey });
  const accounts = createAccounts({ users: database.users, hasher, tokens });
  const limits =
    config.rateLimits && createLimits(config.rateLimits, options.createStore ?? createMemoryStore);
  const write = createAccessLog({ logger, isProbe });
  const log: AccessLog = (answered) => {
    write(answered);
    options.observe?.(answered);
  };
  const assets = readAssets();
  const skipLogging = (path: string) => isLiveness(path) && !logger.isLevelEnabled("debug");
  const skipRateLimit = (path: string) => isProbe(path) || assets.contents.has(path);

  const features = new Elysia()
    .use(probeRoutes(createReadiness({ ping: () => database.ping(), isStopping })))
    .use(authRoutes({ accounts, limits }))
    .use(todoRoutes(createTodos(database.todos)));

  const app = new Elysia({
    // One router for every path, so that HEAD, 404 and the hooks are the same for all; hosts of any length.
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
    normalize: false,
    serve: {
      maxRequestBodySize: SERVER_MAX_BODY_BYTES,
      reusePort: false,
      idleTimeout: idleTimeoutSeconds,
      // The server's development pages show code and paths.
      development: false,
      error: fallbackErrorHandler(logger),
    },
  })
    .use(accessLog(log))
    .use(errorHandler())
    .use(cors(config.corsOrigins))
    .use(secureHeaders({ secureTransport: config.environment === "production" }))
    .use(connectionClose(isStopping))
    .use(headDate())
    .use(requestId())
    .use(clientAddress({ trustProxy: config.trustProxy, logger, skipLogging }))
    .use(preflight(log))
    .use(limitEveryRequest(limits?.default ?? null, skipRateLimit))
    .use(bodyLimit())
    .use(features)
    .use(documentRoutes({ features, assets }));

  return app.use(methodNotAllowed(app));
}
