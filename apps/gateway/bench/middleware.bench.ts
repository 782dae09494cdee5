/**
 * The processor time of each middleware per request: a server without middleware, and one more for each part with all parts
 * before it, in the order of `app.ts`. The servers are loaded in alternation.
 */
import { TodoQuery } from "@latchkey/contracts";
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { type MeasuredServer, startService } from "@latchkey/testing/measured-service";
import { type AnyElysia, Elysia } from "elysia";
import { compactVerify, SignJWT } from "jose";
import { parseConfig } from "../src/config.ts";
import { type AccessLog, accessLog, createAccessLog } from "../src/middleware/access-log.ts";
import { bodyLimit } from "../src/middleware/body-limit.ts";
import { clientAddress } from "../src/middleware/client-address.ts";
import { CORS_HEADERS, cors, preflight } from "../src/middleware/cors.ts";
import { errorHandler } from "../src/middleware/error-handler.ts";
import { createRateLimiters, rateLimit } from "../src/middleware/rate-limit.ts";
import { requestId } from "../src/middleware/request-id.ts";
import { secureHeaders } from "../src/middleware/secure-headers.ts";
import { transportHeaders } from "../src/middleware/transport-headers.ts";
import { queryValidator } from "../src/middleware/validator.ts";
import { createLogger } from "../src/observability/logger.ts";
import { createMetrics } from "../src/observability/metrics.ts";
import { createMemoryStore } from "../src/rate-limit/memory-store.ts";
import { compare, describeLoad, medianOf, printTable } from "./support/compare.ts";

const { MIDDLEWARE_COUNT } = process.env;
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

const defaultHeaders = { ...CORS_HEADERS, ...secureHeaders({ secureTransport: true }) };
let observe: AccessLog = () => {};
const log: AccessLog = (entry) => {
  write(entry);
  observe(entry);
};
let server: Bun.Server<undefined> | null = null;
const peerAddress = (request: Request): string | undefined => server?.requestIP(request)?.address;

const PARTS: Readonly<Record<string, (app: AnyElysia) => AnyElysia>> = {
  "error handler": (app) => app.use(errorHandler()),
  CORS: (app) => app.use(cors(config.corsOrigins)),
  "transport headers": (app) => app.use(transportHeaders({ isStopping: () => false })),
  "request id": (app) => app.use(requestId()),
  "client address": (app) =>
    app.use(clientAddress({ trustProxy: 0, logger, skipLogging: () => false, peerAddress })),
  preflight: (app) => app.use(preflight(log, defaultHeaders)),
  "rate limit": (app) => app.use(rateLimit(limiters?.default, () => false)),
  "body limit": (app) => app.use(bodyLimit()),
  "default headers and access log": (app) =>
    app.use(accessLog({ log, skipLogging: () => false, defaultHeaders })),
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

/** Serves `/route` with the first `count` parts. */
function serve(count: number): void {
  let app: AnyElysia = new Elysia({
    systemRouter: false,
    nativeStaticResponse: false,
    handler: { standardHostname: false },
    normalize: false,
  }).get("/readyz", () => "");
  for (const add of Object.values(PARTS).slice(0, count)) app = add(app);
  app.get("/route", () => ({ status: "ok" }));
  server = Bun.serve({ hostname: "127.0.0.1", port: config.port, development: false, fetch: app.fetch });
}

async function measure(): Promise<void> {
  const options = parseOptions({ rounds: 5, seconds: 1, connections: 32 });
  await using stack = new AsyncDisposableStack();
  const servers: Record<string, MeasuredServer> = {};
  for (const [count, name] of ["no middleware", ...Object.keys(PARTS)].entries()) {
    const env = { NODE_ENV: "production", MIDDLEWARE_COUNT: String(count) };
    servers[name] = stack.use(await startService(env, import.meta.path));
  }
  const token = await new SignJWT({ sub: "1" })
    .setProtectedHeader({ alg: "HS256" })
    .setExpirationTime("1h")
    .sign(new TextEncoder().encode(SECRET_KEY));
  print(`${describeLoad(options)}\n`);
  const headers = { authorization: `Bearer ${token}` };
  const results = Object.entries(await compare(servers, { path: "/route?limit=20", headers, ...options }));
  const times = results.map(([name, rounds]) => ({ name, us: medianOf("microseconds", rounds) }));
  const rows = times.map(({ name, us }, index) => {
    const previous = times[index - 1];
    return [name, us.toFixed(1), previous ? (us - previous.us).toFixed(1) : ""];
  });
  printTable([["With all parts above", "µs per request", "added"], ...rows]);
}

if (MIDDLEWARE_COUNT === undefined) await measure();
else serve(Number(MIDDLEWARE_COUNT));
