/** Rate limits over a real socket: which requests count against which quota, and what a 429 contains. */
import { describe, expect, test } from "bun:test";
import { createRateLimiters } from "../../src/middleware/rate-limit.ts";
import { createMemoryStore, type Store } from "../../src/rate-limit/store.ts";
import type { ClientResponse } from "../support/client.ts";
import { readConfig, type Service, type ServiceOptions, startService } from "../support/service.ts";

const UNKNOWN_USER = { email: "nobody@example.org", password: "whatever it is" };
const login = (service: Service, body: unknown = UNKNOWN_USER) =>
  service.call("POST", "/auth/login", { body });
const remaining = ({ headers }: ClientResponse) => headers.get("ratelimit-remaining");
const from = (address: string) => ({ headers: { "x-forwarded-for": address } });

/** Rate limits are enabled; a quota that a test does not name is out of reach. */
const startLimited = (env: Record<string, string>, options: ServiceOptions = {}) =>
  startService({
    ...options,
    env: {
      TRUST_PROXY: "1",
      RATE_LIMIT_ENABLED: "true",
      RATE_LIMIT_DEFAULT: "1000000/hour",
      RATE_LIMIT_LOGIN: "1000000/hour",
      RATE_LIMIT_REGISTER: "1000000/hour",
      RATE_LIMIT_PASSWORD_CHANGE: "1000000/hour",
      ...env,
    },
  });

test("a counted response states the limit, the remaining requests and the seconds until the window ends; probes do not count", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "2/minute" });
  // A client that changes its address within its /64 keeps its counter.
  for (const [address, expected] of [
    ["2001:db8::1", "1"],
    ["[2001:db8::2]:443", "0"],
    ["2001:db8:0:0:ffff::", "0"],
    ["2001:db8:0:1::1", "1"],
  ] as const) {
    const response = await service.call("GET", "/todos", from(address));
    expect(response.headers.get("ratelimit-limit")).toBe("2");
    expect(remaining(response)).toBe(expected);
    expect(Number(response.headers.get("ratelimit-reset"))).toBeWithin(1, 61);
  }
  const rejected = await service.call("GET", "/nowhere", from("2001:db8::1"));
  expect([rejected.status, rejected.body]).toEqual([
    429,
    { detail: "429: Too Many Requests: 2 per 1 minute", code: "TOO_MANY_REQUESTS" },
  ]);
  for (const path of ["/healthz", "/readyz", "/healthz/", "/readyz?x=1"])
    for (const method of ["GET", "HEAD"])
      expect((await service.call(method, path, from("2001:db8::1"))).status).toBe(200);
});

test("quotas with equal values have separate counters", async () => {
  const names = ["DEFAULT", "LOGIN", "REGISTER", "PASSWORD_CHANGE"];
  const quotas = Object.fromEntries(names.map((name) => [`RATE_LIMIT_${name}`, "9/minute"]));
  await using service = await startLimited(quotas);
  const { token } = await service.createUser();
  expect(remaining(await login(service))).toBe("7");
  const body = { email: "a@example.org", username: "a", password: "long enough" };
  expect(remaining(await service.call("POST", "/auth/register", { body }))).toBe("7");
  expect(remaining(await service.call("PATCH", "/auth/me", { token, body }))).toBe("8");
  expect(remaining(await service.call("GET", "/todos"))).toBe("3");
});

test("a valid login counts against its quota, an invalid one against the default quota only; neither it nor a rejected one runs a derivation", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "100/hour", RATE_LIMIT_LOGIN: "3/hour" });
  const user = await service.register();
  const before = service.derivations();
  for (const body of [{}, { ...UNKNOWN_USER, email: "not an address" }, "{", "", []]) {
    expect((await login(service, body)).status).toBe(422);
  }
  const wrongType = { body: JSON.stringify(UNKNOWN_USER), headers: { "content-type": "text/plain" } };
  expect((await service.call("POST", "/auth/login", wrongType)).status).toBe(422);
  expect(service.derivations()).toBe(before);
  expect(remaining(await service.call("GET", "/todos"))).toBe("92");

  expect((await login(service, user)).status).toBe(200);
  expect((await service.call("POST", "/auth/login/", { body: UNKNOWN_USER })).status).toBe(401);
  expect((await service.call("POST", "/auth/login?x=1", { body: UNKNOWN_USER })).status).toBe(401);
  expect((await login(service, user)).status).toBe(429);
  expect((await service.call("POST", "/auth/login/", { body: user })).status).toBe(429);
  expect(service.derivations()).toBe(before + 3);
});

describe("PATCH /auth/me with a password or a current password", () => {
  test("counts per user and per client address, and a rejected one runs no derivation", async () => {
    await using service = await startLimited({ RATE_LIMIT_PASSWORD_CHANGE: "2/minute" });
    const first = await service.createUser();
    const second = await service.createUser();
    const third = await service.createUser();
    const derivations = service.derivations();
    for (const [{ token }, address, status] of [
      [first, "192.0.2.1", 200],
      [first, "192.0.2.2", 200],
      [first, "192.0.2.3", 429],
      [second, "192.0.2.1", 200],
      [third, "192.0.2.1", 429],
      [third, "192.0.2.4", 200],
    ] as const) {
      const request = { token, body: { password: "a new password" }, ...from(address) };
      const response = await service.call("PATCH", "/auth/me", request);
      expect([response.status, response.headers.get("ratelimit-limit")]).toEqual([status, "2"]);
    }
    expect(service.derivations()).toBe(derivations + 4);
  });

  test("is the only PATCH that counts: invalid bodies, missing tokens, usernames and {} do not", async () => {
    await using service = await startLimited({ RATE_LIMIT_PASSWORD_CHANGE: "1/hour" });
    const { token } = await service.createUser();
    const patch = async (body: unknown, credentials: { token?: string } = { token }) =>
      (await service.call("PATCH", "/auth/me", { body, ...credentials })).status;
    const password = "a new password";
    for (const body of [{ password: "short" }, { password, username: "" }, { current_password: "\0" }, "{"]) {
      expect(await patch(body)).toBe(422);
    }
    expect(await patch({ password }, {})).toBe(401);
    expect(await patch({ username: "renamed" })).toBe(200);
    expect(await patch({})).toBe(200);
    expect(await patch({ password })).toBe(200);
    expect(await patch({ password, username: "again" })).toBe(429);
    expect(await patch({ current_password: password })).toBe(429);
    expect(await patch({ username: "again" })).toBe(200);
  });
});

test("a request that is over both counters of a quota reports the window that ends later", async () => {
  let ahead = 0;
  const store = createMemoryStore(() => Date.now() + ahead);
  const { rateLimits } = readConfig({ RATE_LIMIT_ENABLED: "true", RATE_LIMIT_PASSWORD_CHANGE: "1/minute" });
  const limiters = rateLimits && createRateLimiters(rateLimits, store);
  const retryAfter = (clientAddress: string) =>
    limiters?.passwordChange.limitUser({ clientAddress, headers: {} }, 1).then(
      () => 0,
      ({ properties }) => properties.retryAfterSeconds,
    );
  expect(await retryAfter("192.0.2.1")).toBe(0);
  ahead = 30_000;
  expect(await retryAfter("192.0.2.2")).toBe(60);
  expect(await retryAfter("192.0.2.2")).toBe(90);
});

test.each([
  ["GET", "/todos", { RATE_LIMIT_DEFAULT: "1/hour" }],
  ["POST", "/auth/login", { RATE_LIMIT_LOGIN: "1/hour" }],
])(
  "after 1,000 rejections of %s %s in one window, each further one takes a second, for that client only",
  async (method, path, env) => {
    const memory = createMemoryStore();
    // Each client has sent 1,000 requests.
    const fixedWindow: Store["fixedWindow"] = (limit) => {
      const window = memory.fixedWindow(limit);
      const increment = async (key: string) => {
        const { count, resetsAt } = await window.increment(key);
        return { count: count + 1000, resetsAt, undo() {} };
      };
      return { isSynchronous: false, increment, read: window.read, clear: window.clear };
    };
    await using service = await startLimited(env, { store: { ...memory, fixedWindow } });
    const ended: string[] = [];
    const reject = async (address: string) => {
      const body = method === "POST" ? UNKNOWN_USER : undefined;
      expect((await service.call(method, path, { body, ...from(address) })).status).toBe(429);
      ended.push(address);
    };
    await reject("192.0.2.1");
    const startedAt = performance.now();
    await Promise.all([reject("192.0.2.1"), reject("192.0.2.2")]);
    expect(performance.now() - startedAt).toBeGreaterThan(999);
    expect(ended).toEqual(["192.0.2.1", "192.0.2.2", "192.0.2.1"]);
  },
);

test("RATE_LIMIT_ENABLED=false disables every limit", async () => {
  const env = { RATE_LIMIT_ENABLED: "false", RATE_LIMIT_DEFAULT: "1/hour" };
  await using service = await startService({ env });
  const { token } = await service.createUser();
  for (let count = 0; count < 12; count++) {
    const response = await login(service);
    expect([response.status, remaining(response)]).toEqual([401, null]);
    const body = { current_password: "not the password" };
    expect((await service.call("PATCH", "/auth/me", { token, body })).status).toBe(403);
  }
  // Nor are familiar networks stored.
  expect(await service.sql("select * from user_networks")).toEqual([]);
});
