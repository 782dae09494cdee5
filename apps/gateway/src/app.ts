/** The server on one screen: middleware in order, then the features. Opens no resource; `program.ts` passes them in. */
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { Elysia } from "elysia";
import type { Config } from "./config.ts";
import { readAssets } from "./docs/pages/assets.ts";
import { documentRoutes } from "./docs/routes.ts";
import { type AuthRoutesOptions, authRoutes } from "./features/auth/routes.ts";
import { createAuthService } from "./features/auth/service.ts";
import { isLiveness, isProbe, probeRoutes } from "./features/probes/routes.ts";
import { createReadiness, type Readiness } from "./features/probes/service.ts";
import { todoRoutes } from "./features/todos/routes.ts";
import { createTodoService, type TodoService } from "./features/todos/service.ts";
import { type AccessLog, accessLog, createAccessLog } from "./middleware/access-log.ts";
import { bodyLimit } from "./middleware/body-limit.ts";
import { clientAddress } from "./middleware/client-address.ts";
import { cors, preflight } from "./middleware/cors.ts";
import { errorHandler, fallbackErrorHandler, methodNotAllowed } from "./middleware/error-handler.ts";
import { createTokens } from "./middleware/jwt.ts";
import { nativeHeaders } from "./middleware/native-headers.ts";
import { createRateLimiters, rateLimit } from "./middleware/rate-limit.ts";
import { requestId } from "./middleware/request-id.ts";
import { secureHeaders } from "./middleware/secure-headers.ts";
import { transportHeaders } from "./middleware/transport-headers.ts";
import type { Logger } from "./observability/logger.ts";
import { createMemoryStore } from "./rate-limit/memory-store.ts";
import type { CreateStore } from "./rate-limit/store.ts";

export interface AppOptions {
  readonly config: Config;
  readonly secretKey: string;
  readonly database: Database;
  readonly hasher: Hasher;
  readonly logger: Logger;
  /** Creates the stores of the rate limits. @default in-memory stores */
  readonly createStore?: CreateStore;
  /**
   * Idle time until a connection is closed, 1 to 255. The server exempts a request whose body is complete, so a request
   * can wait longer for a derivation. @default 60
   */
  readonly idleTimeoutSeconds?: number;
  /** Receives each access log entry, in addition to the log. */
  readonly observe?: AccessLog;
  /** Whether the process is shutting down: it is no longer ready, and responses close their connections. */
  readonly isStopping: () => boolean;
}

/** A second limit, above that of `bodyLimit`: the server's own 413 has no envelope and no headers. */
const SERVER_MAX_BODY_BYTES = 16 * 1024 * 1024;

/** The route of all assets in logs and metrics: each has its own path, which contains a hash. */
const ASSET_ROUTE = "/docs/assets/*";

interface FeatureOptions extends AuthRoutesOptions {
  readonly readiness: Readiness;
  readonly todoService: TodoService;
}

/** The routes that the OpenAPI document describes. */
export const createFeatures = ({ readiness, todoService, ...auth }: FeatureOptions) =>
  new Elysia().use(probeRoutes(readiness)).use(authRoutes(auth)).use(todoRoutes(todoService));

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
  const authService = createAuthService({ users: database.users, hasher, tokens });
  const limiters =
    config.rateLimits && createRateLimiters(config.rateLimits, options.createStore ?? createMemoryStore);
  const write = createAccessLog({ logger, isProbe });
  const assets = readAssets();
  const log: AccessLog = (original) => {
    const isAsset = assets.contents.has(original.route ?? "");
    const entry = isAsset ? { ...original, route: ASSET_ROUTE } : original;
    write(entry);
    options.observe?.(entry);
  };
  const skipLogging = (path: string) => isLiveness(path) && !logger.isLevelEnabled("debug");
  const skipRateLimit = (path: string) => isProbe(path) || assets.contents.has(path);

  const peerAddress = (request: Request): string | undefined => app.server?.requestIP(request)?.address;

  const features = createFeatures({
    readiness: createReadiness({ ping: () => database.ping(), isStopping }),
    authService,
    limiters,
    todoService: createTodoService(database.todos),
  });

  const app = new Elysia({
    // One router for all paths, so that HEAD, 404 and hooks behave the same everywhere; accept hosts of any length.
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
    normalize: false,
    serve: {
      maxRequestBodySize: SERVER_MAX_BODY_BYTES,
      reusePort: false,
      idleTimeout: idleTimeoutSeconds,
      // Development error pages contain source code and paths.
      development: false,
      error: fallbackErrorHandler(logger),
    },
  })
    .use(accessLog(log))
    .use(errorHandler())
    .use(cors(config.corsOrigins))
    .use(secureHeaders({ secureTransport: config.environment === "production" }))
    .use(transportHeaders({ isStopping }))
    .use(requestId())
    .use(clientAddress({ trustProxy: config.trustProxy, logger, skipLogging, peerAddress }))
    .use(preflight(log))
    .use(rateLimit(limiters?.default, skipRateLimit))
    .use(bodyLimit())
    .use(nativeHeaders)
    .use(features)
    .use(documentRoutes({ features, assets }));

  return app.use(methodNotAllowed(app));
}
