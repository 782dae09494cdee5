/** A server with the first parts of the request path, in the order of `app.ts`, for `bench middleware`. */
import { TodoQuery } from "@latchkey/contracts";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type AnyElysia, Elysia } from "elysia";
import { compactVerify } from "jose";
import { parseConfig } from "../../src/config.ts";
import { type AccessLog, accessLog, createAccessLog } from "../../src/middleware/access-log.ts";
import { bodyLimit } from "../../src/middleware/body-limit.ts";
import { clientAddress } from "../../src/middleware/client-address.ts";
import { cors, preflight } from "../../src/middleware/cors.ts";
import { errorHandler } from "../../src/middleware/error-handler.ts";
import { nativeHeaders } from "../../src/middleware/native-headers.ts";
import { createRateLimiters, rateLimit } from "../../src/middleware/rate-limit.ts";
import { requestId } from "../../src/middleware/request-id.ts";
import { secureHeaders } from "../../src/middleware/secure-headers.ts";
import { transportHeaders } from "../../src/middleware/transport-headers.ts";
import { queryValidator } from "../../src/middleware/validator.ts";
import { createLogger } from "../../src/observability/logger.ts";
import { createMetrics } from "../../src/observability/metrics.ts";
import { createMemoryStore } from "../../src/rate-limit/memory-store.ts";

const config = parseConfig(process.env, { kernels: [], isTerminal: false, readFile: () => "" });
const logger = createLogger(config.log);
const write = createAccessLog({ logger, isProbe: () => false });
const limiters = config.rateLimits && createRateLimiters(config.rateLimits, createMemoryStore);
const readQuery = queryValidator(TodoQuery);
const key = await crypto.subtle.importKey(
  "raw",
  new TextEncoder().encode(SECRET_KEY),
  { name: "HMAC", hash: "SHA-256" },
  false,
  ["verify"],
);

/** Read by scrapes only. */
function stats(): never {
  throw new Error("nothing scrapes the metrics");
}

let observe: AccessLog = () => {};
const log: AccessLog = (entry) => {
  write(entry);
  observe(entry);
};
let server: Bun.Server<undefined> | null = null;
const peerAddress = (request: Request): string | undefined => server?.requestIP(request)?.address;

const PARTS: Readonly<Record<string, (app: AnyElysia) => AnyElysia>> = {
  "access log": (app) => app.use(accessLog(log)),
  "error handler": (app) => app.use(errorHandler()),
  CORS: (app) => app.use(cors(config.corsOrigins)),
  "secure headers": (app) => app.use(secureHeaders({ secureTransport: true })),
  "transport headers": (app) => app.use(transportHeaders({ isStopping: () => false })),
  "request id": (app) => app.use(requestId()),
  "client address": (app) =>
    app.use(clientAddress({ trustProxy: 0, logger, skipLogging: () => false, peerAddress })),
  preflight: (app) => app.use(preflight(log)),
  "rate limit": (app) => app.use(rateLimit(limiters?.default, () => false)),
  "body limit": (app) => app.use(bodyLimit()),
  "native headers": (app) => app.use(nativeHeaders),
  metrics: (app) => {
    observe = createMetrics({ stats }, 1).observeRequest;
    return app;
  },
  "query validator": (app) => app.onBeforeHandle(({ request }) => void readQuery(request.url)),
  "token verification": (app) =>
    app.onBeforeHandle(async ({ request }) => {
      await compactVerify(request.headers.get("authorization")?.slice("Bearer ".length) ?? "", key);
    }),
};

export const PART_NAMES = Object.keys(PARTS);

/** Serves `/route` with the first `count` parts. */
export function serve(count: number): void {
  let app: AnyElysia = new Elysia({
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
    normalize: false,
  }).get("/readyz", () => "");
  for (const name of PART_NAMES.slice(0, count)) app = PARTS[name]?.(app) ?? app;
  app.get("/route", () => ({ status: "ok" }));
  server = Bun.serve({ hostname: "127.0.0.1", port: config.port, development: false, fetch: app.fetch });
}
