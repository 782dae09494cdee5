/** Rate limits over a real socket: which requests count against which quota, and what a 429 contains. */
import { describe, expect, test } from "bun:test";
import { createRateLimiters } from "../../src/middleware/rate-limit.ts";
import { createMemoryStore, type Store } from "../../src/rate-limit/store.ts";
import type { ClientResponse } from "../support/client.ts";
import {
  readConfig,
  type Service,
  type ServiceOptions,
  startService,
  type TestUser,
} from "../support/service.ts";

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

test("a counted response states the limit, the remaining requests and the seconds until the window ends", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "2/minute" });
  for (const expected of ["1", "0", "0"]) {
    const response = await service.call("GET", "/todos");
    expect(response.headers.get("ratelimit-limit")).toBe("2");
    expect(remaining(response)).toBe(expected);
    expect(Number(response.headers.get("ratelimit-reset"))).toBeWithin(1, 61);
  }
  const rejected = await service.call("GET", "/nowhere");
  expect([rejected.status, rejected.body]).toEqual([
    429,
    { detail: "429: Too Many Requests: 2 per 1 minute", code: "TOO_MANY_REQUESTS" },
  ]);
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
  const change = (service: Service, { token }: TestUser, address: string, password = "a new password") =>
    service.call("PATCH", "/auth/me", { token, body: { password }, ...from(address) });

  test("counts per user: the sixth within a minute returns 429 from any client address and runs no derivation", async () => {
    await using service = await startService({ env: { RATE_LIMIT_ENABLED: "true", TRUST_PROXY: "1" } });
    const user = await service.createUser();
    for (const [index, status] of [200, 200, 200, 200, 200, 429].entries()) {
      expect((await change(service, user, `192.0.2.${index}`)).status).toBe(status);
    }
    const derivations = service.derivations();
    const rejected = await change(service, user, "192.0.2.99", "never stored");
    expect([rejected.status, rejected.headers.get("ratelimit-limit")]).toEqual([429, "5"]);
    expect(service.derivations()).toBe(derivations);
    expect(await service.login({ email: user.email, password: "a new password" })).toBeString();
  });

  test("counts per client address: other users at that address are rejected, at another address they are not", async () => {
    await using service = await startLimited({ RATE_LIMIT_PASSWORD_CHANGE: "2/minute" });
    const [first, second, third] = [
      await service.createUser(),
      await service.createUser(),
      await service.createUser(),
    ];
    for (const [user, address, status] of [
      [first, "192.0.2.1", 200],
      [second, "192.0.2.1", 200],
      [third, "192.0.2.1", 429],
      [third, "192.0.2.2", 200],
      [third, "192.0.2.2", 429],
    ] as const)
      expect((await change(service, user, address)).status).toBe(status);
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
    limiters?.passwordChange
      .limitUser({ clientAddress, principal: { user: { id: 1 } }, set: { headers: {} } })
      .then(
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
      return { isSynchronous: false, increment };
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

test("probes and preflights are never rejected", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "1/hour" });
  expect((await service.call("GET", "/todos")).status).toBe(200);
  expect((await service.call("GET", "/todos")).status).toBe(429);
  for (const path of ["/healthz", "/readyz", "/healthz/", "/readyz?x=1"]) {
    for (const method of ["GET", "HEAD"]) expect((await service.call(method, path)).status).toBe(200);
  }
  const headers = { origin: "https://a.example", "access-control-request-method": "POST" };
  expect((await service.call("OPTIONS", "/todos", { headers })).status).toBe(204);
});

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

test("a store that counts later limits in the same way", async () => {
  const memory = createMemoryStore();
  const fixedWindow: Store["fixedWindow"] = (limit) => {
    const window = memory.fixedWindow(limit);
    return { isSynchronous: false, increment: async (key) => window.increment(key) };
  };
  const store = { ...memory, fixedWindow };
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "2/hour" }, { store });
  const responses = [1, 2, 3].map(() => service.call("GET", "/todos"));
  expect((await Promise.all(responses)).map(({ status }) => status).sort()).toEqual([200, 200, 429]);
});
