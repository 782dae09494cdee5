/** Every kind of response passes through all middleware: headers, rate limit and access log. */
import { expect, test } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { QueueFull } from "@latchkey/hashing";
import { readAssets } from "../src/pages/assets.ts";
import { createMemoryStore, type Store } from "../src/rate-limit/store.ts";
import type { CallOptions } from "./support/client.ts";
import { forge, secondsFromNow } from "./support/forge-token.ts";
import { newCredentials, type Service, type ServiceOptions, startService } from "./support/service.ts";

const ORIGIN = "https://app.example";
const REQUEST_ID = "order-test.1";
const USER = newCredentials();
/** Of the first user. */
const TOKEN = forge({ claims: { sub: "1", exp: secondsFromNow(3600) } });
const TOO_LARGE = " ".repeat(BODY_MAX_BYTES + 1);
const [ASSET = ""] = readAssets().contents.keys();

interface Details extends CallOptions {
  readonly start?: ServiceOptions;
  /** Runs before the request. */
  readonly prepare?: (service: Service) => Promise<unknown>;
  /** Not rate-limited, so it has no RateLimit headers. */
  readonly skipRateLimit?: true;
  /** The documentation pages have their own policy. */
  readonly hasOwnPolicy?: true;
  /** The documentation can be cached. */
  readonly isCacheable?: true;
}

const limit = (name: string): ServiceOptions => ({ env: { [`RATE_LIMIT_${name}`]: "1/hour" } });
const fail = (error: Error) => () => Promise.reject(error);

async function registerInactive({ register, database }: Service): Promise<void> {
  await database.users.changeAsOperator((await register()).user.id, { isActive: false });
}

const CASES: readonly (readonly [status: number, request: string, details?: Details])[] = [
  [200, "GET /todos"],
  [200, "HEAD /todos"],
  [201, "POST /todos", { body: { title: "Buy milk" } }],
  [204, "DELETE /todos/1", { prepare: ({ call }) => call("POST", "/todos", { body: { title: "x" } }) }],
  [303, "GET /", { headers: { accept: "text/html" } }],
  [401, "GET /auth/me"],
  [403, "GET /auth/me", { token: TOKEN, prepare: registerInactive }],
  [404, "GET /nowhere"],
  [405, "POST /healthz"],
  [409, "POST /auth/register", { body: USER, prepare: ({ register }) => register(USER) }],
  [413, "POST /todos", { body: TOO_LARGE }],
  [413, "PATCH /todos/1", { body: new Blob([TOO_LARGE]).stream() }],
  [422, "POST /todos", { body: { title: 1 } }],
  [422, "POST /todos", { body: "{" }],
  [429, "GET /todos", { start: limit("DEFAULT"), prepare: ({ call }) => call("GET", "/todos") }],
  [
    429,
    "POST /auth/login",
    { body: USER, start: limit("LOGIN"), prepare: ({ call }) => call("POST", "/auth/login", { body: USER }) },
  ],
  [500, "GET /todos", { start: { wrapDatabase: () => ({ todos: { list: fail(new TypeError("a bug")) } }) } }],
  [
    503,
    "POST /auth/login",
    { body: USER, start: { wrapHasher: () => ({ verify: fail(new QueueFull(1)) }) } },
  ],
  [503, "GET /readyz", { start: { isStopping: () => true }, skipRateLimit: true }],
  [200, "GET /healthz", { skipRateLimit: true }],
  [204, "OPTIONS /todos", { headers: { "access-control-request-method": "POST" }, skipRateLimit: true }],
  [200, "GET /docs", { hasOwnPolicy: true, isCacheable: true }],
  [200, "GET /openapi.json", { isCacheable: true }],
  [304, "GET /openapi.json", { headers: { "if-none-match": "*" }, isCacheable: true }],
  [200, `GET ${ASSET}`, { skipRateLimit: true, isCacheable: true }],
];

function expectCors(headers: Headers): void {
  expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(headers.get("vary")?.split(/, */)).toContain("Origin");
  expect(headers.get("access-control-expose-headers")?.split(/, */)).toEqual([
    "X-Request-ID",
    "Retry-After",
    ...["Limit", "Remaining", "Reset"].map((name) => `RateLimit-${name}`),
  ]);
  expect(headers.get("access-control-allow-credentials")).toBeNull();
}

function expectSecureHeaders(headers: Headers, { hasOwnPolicy, isCacheable }: Details): void {
  expect(Object.fromEntries(headers)).toMatchObject({
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  });
  const policy = headers.get("content-security-policy");
  if (hasOwnPolicy) expect(policy).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  else expect(policy).toBe("default-src 'none'; frame-ancestors 'none'");
  if (!isCacheable) expect(headers.get("cache-control")).toBe("no-store");
  for (const name of ["server", "x-powered-by", "via"]) expect(headers.has(name)).toBe(false);
  expect(JSON.stringify(Object.fromEntries(headers))).not.toMatch(/\bbun\b|elysia/i);
}

function expectRateLimit(headers: Headers, status: number, { skipRateLimit }: Details): void {
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
    if (skipRateLimit) expect(headers.get(name)).toBeNull();
    else expect(headers.get(name)).toMatch(/^\d+$/);
  }
  if (status !== 429) return;
  expect(headers.get("ratelimit-remaining")).toBe("0");
  expect(headers.get("retry-after")).toBe(headers.get("ratelimit-reset"));
}

test.each(CASES)(
  "%d to %s has the headers of all middleware, writes one log line and counts once against the default quota",
  async (status, request, details = {}) => {
    let counted = 0;
    const memory = createMemoryStore();
    const fixedWindow: Store["fixedWindow"] = (limit) => {
      const window = memory.fixedWindow(limit);
      const increment = (key: string) => {
        if (limit.name === "default") counted += 1;
        return window.increment(key);
      };
      return { isSynchronous: true, increment, read: window.read, clear: window.clear };
    };
    const { start, prepare, skipRateLimit, body, token, headers } = details;
    const env = { RATE_LIMIT_ENABLED: "true", CORS_ORIGINS: ORIGIN, ...start?.env };
    await using service = await startService({ store: { ...memory, fixedWindow }, ...start, env });
    await prepare?.(service);
    const countedBefore = counted;
    const [method = "", path = ""] = request.split(" ");
    const startedAt = Date.now();
    const response = await service.call(method, path, {
      body,
      ...(token !== undefined && { token }),
      headers: { origin: ORIGIN, "x-request-id": REQUEST_ID, ...headers },
    });
    expect(response.status).toBe(status);
    expectCors(response.headers);
    expectSecureHeaders(response.headers, details);
    expectRateLimit(response.headers, status, details);
    expect(response.headers.get("x-request-id")).toBe(REQUEST_ID);
    const date = Date.parse(response.headers.get("date") ?? "");
    expect(date).toBeWithin(startedAt - 10_000, Date.now() + 10_000);
    const type = response.headers.get("content-type");
    if (response.text !== "") expect(type).toMatch(/^(application\/json|text\/\w+); ?charset=utf-8$/);
    if (status === 204 || status === 304) expect(type).toBeNull();

    expect(counted - countedBefore).toBe(skipRateLimit ? 0 : 1);
    // The line is written after the response, at the latest by the end of another request.
    await service.request("/healthz");
    const lines = service.log.filter(({ request_id }) => request_id === REQUEST_ID);
    expect(lines).toMatchObject([{ method, status }]);
  },
);
