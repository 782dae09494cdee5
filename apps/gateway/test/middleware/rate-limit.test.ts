/** Quotas over a real socket: what counts, against which, how often, and what a refusal says. */
import { describe, expect, test } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import type { Answer } from "../support/client.ts";
import { type Service, type ServiceOptions, startService } from "../support/service.ts";

const NOBODY = { email: "nobody@example.org", password: "whatever it is" };
const login = (service: Service, body: unknown = NOBODY) => service.call("POST", "/auth/login", { body });
const remaining = ({ headers }: Answer) => headers.get("ratelimit-remaining");

/** Limits on; a quota that a test does not name is out of reach. */
const startLimited = (env: Record<string, string>, options: ServiceOptions = {}) =>
  startService({
    ...options,
    env: {
      RATE_LIMIT_ENABLED: "true",
      RATE_LIMIT_DEFAULT: "1000000/hour",
      RATE_LIMIT_LOGIN: "1000000/hour",
      RATE_LIMIT_REGISTER: "1000000/hour",
      ...env,
    },
  });

describe("of a quota of five the sixth is refused, each answer counted once", () => {
  const taken = { email: "taken@example.org", username: "taken", password: "correct horse battery" };
  const ANSWERS: Record<string, { status: number; ask: (service: Service) => Promise<Answer> }> = {
    "200": { status: 200, ask: (service) => service.call("GET", "/todos") },
    "200 of HEAD": { status: 200, ask: (service) => service.call("HEAD", "/todos") },
    "201": { status: 201, ask: (service) => service.call("POST", "/todos", { body: { title: "x" } }) },
    "401 without a token": { status: 401, ask: (service) => service.call("GET", "/auth/me") },
    "401 of a bad token": {
      status: 401,
      ask: (service) => service.call("GET", "/auth/me", { token: "x.y.z" }),
    },
    "401 of a login": { status: 401, ask: (service) => login(service) },
    "404 of a path": { status: 404, ask: (service) => service.call("GET", "/nowhere") },
    "404 of an id": { status: 404, ask: (service) => service.call("GET", "/todos/404") },
    "405": { status: 405, ask: (service) => service.call("PUT", "/todos") },
    "405 of a probe's path": { status: 405, ask: (service) => service.call("POST", "/healthz") },
    "409": {
      status: 409,
      async ask(service) {
        await service.database.users.create({ ...taken, hashedPassword: "none" }).catch(() => {});
        return service.call("POST", "/auth/register", { body: taken });
      },
    },
    "413": {
      status: 413,
      ask: (service) => service.call("POST", "/todos", { body: " ".repeat(BODY_MAX_BYTES + 1) }),
    },
    "422": { status: 422, ask: (service) => service.call("POST", "/todos", { body: {} }) },
    "422 of a login": { status: 422, ask: (service) => login(service, {}) },
    "422 of malformed JSON": { status: 422, ask: (service) => service.call("POST", "/todos", { body: "{" }) },
    "422 of a query": { status: 422, ask: (service) => service.call("GET", "/todos?limit=0") },
    "an OPTIONS that is no preflight": { status: 405, ask: (service) => service.call("OPTIONS", "/todos") },
    "500": { status: 500, ask: (service) => service.call("PATCH", "/todos/1", { body: {} }) },
  };

  test.each(Object.entries(ANSWERS))("%s", async (_name, { status, ask }) => {
    const fail = () => Promise.reject(new TypeError("a bug"));
    await using service = await startLimited(
      { RATE_LIMIT_DEFAULT: "5/hour" },
      { wrapDatabase: (database) => ({ ...database, todos: { ...database.todos, update: fail } }) },
    );
    for (let count = 1; count <= 5; count++) expect((await ask(service)).status).toBe(status);
    const refused = await service.call("GET", "/todos");
    expect(refused.status).toBe(429);
    expect(refused.body).toEqual({ detail: "429: Too Many Requests: 5 per 1 hour" });
    expect((await ask(service)).status).toBe(429);
  });
});

test("a counted answer tells the quota, what is left of it and when it is whole again", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "2/minute" });
  for (const left of ["1", "0", "0"]) {
    const { headers } = await service.call("GET", "/todos");
    expect(headers.get("ratelimit-limit")).toBe("2");
    expect(headers.get("ratelimit-remaining")).toBe(left);
    expect(Number(headers.get("ratelimit-reset"))).toBeWithin(1, 61);
  }
});

test("equal quotas of default, login and register stay three counters", async () => {
  const quota = "9/minute";
  await using service = await startLimited({
    RATE_LIMIT_DEFAULT: quota,
    RATE_LIMIT_LOGIN: quota,
    RATE_LIMIT_REGISTER: quota,
  });
  const register = () =>
    service.call("POST", "/auth/register", {
      body: { email: "a@example.org", username: "a", password: "long enough" },
    });
  expect(remaining(await login(service))).toBe("8");
  expect(remaining(await login(service))).toBe("7");
  expect(remaining(await register())).toBe("8");
  expect(remaining(await service.call("GET", "/todos"))).toBe("5");
  expect(remaining(await login(service))).toBe("6");
});

test("of twelve logins at once five pass, and the others are told when to come back", async () => {
  await using service = await startLimited({ RATE_LIMIT_LOGIN: "5/minute" });
  const answers = await Promise.all(Array.from({ length: 12 }, () => login(service)));
  const refused = answers.filter(({ status }) => status === 429);
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(5);
  expect(refused).toHaveLength(7);
  for (const { body, headers } of refused) {
    expect(body).toEqual({ detail: "429: Too Many Requests: 5 per 1 minute" });
    expect(headers.get("ratelimit-limit")).toBe("5");
    expect(headers.get("ratelimit-remaining")).toBe("0");
    expect(Number(headers.get("retry-after"))).toBeWithin(1, 61);
  }
});

test("of ten registrations at once three pass by default", async () => {
  await using service = await startService({ env: { RATE_LIMIT_ENABLED: "true" } });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      service.call("POST", "/auth/register", {
        body: { email: `p${index}@example.org`, username: `p${index}`, password: "long enough" },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
  expect(answers.filter(({ status }) => status === 429)).toHaveLength(7);
});

test("a login that is not valid costs no derivation and counts against the default quota alone", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "100/hour", RATE_LIMIT_LOGIN: "1/hour" });
  for (const body of [
    {},
    { ...NOBODY, email: "no address" },
    "{",
    "",
    "\xff",
    [],
    { ...NOBODY, password: 1 },
  ]) {
    expect((await login(service, body)).status).toBe(422);
  }
  const wrongType = { body: JSON.stringify(NOBODY), headers: { "content-type": "text/plain" } };
  expect((await service.call("POST", "/auth/login", wrongType)).status).toBe(422);
  expect(service.hasher.stats().completed).toBe(0);
  expect(remaining(await service.call("GET", "/todos"))).toBe("91");
  expect((await login(service)).status).toBe(401);
  expect((await login(service)).status).toBe(429);
});

test("a login counts against its own quota whatever its answer, in any spelling of its path", async () => {
  await using service = await startLimited({ RATE_LIMIT_LOGIN: "3/hour" });
  const person = await service.register();
  expect((await login(service, person)).status).toBe(200);
  expect((await service.call("POST", "/auth/login/", { body: NOBODY })).status).toBe(401);
  expect((await service.call("POST", "/auth/login?x=1", { body: NOBODY })).status).toBe(401);
  expect((await login(service, person)).status).toBe(429);
  expect((await service.call("POST", "/auth/login/", { body: person })).status).toBe(429);
});

test("a refused login costs no derivation", async () => {
  await using service = await startLimited({ RATE_LIMIT_LOGIN: "1/hour" });
  await login(service);
  await login(service);
  expect(service.hasher.stats().completed).toBe(1);
});

test("probes and preflights are never counted and never refused", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "1/hour" });
  const preflight = { origin: "https://a.example", "access-control-request-method": "POST" };
  const ask = async () => {
    for (const path of ["/healthz", "/readyz", "/healthz/", "/readyz?x=1"]) {
      expect((await service.call("GET", path)).status).toBe(200);
      expect((await service.call("HEAD", path)).status).toBe(200);
    }
    expect((await service.call("OPTIONS", "/todos", { headers: preflight })).status).toBe(204);
  };
  await ask();
  expect((await service.call("GET", "/todos")).status).toBe(200);
  expect((await service.call("GET", "/todos")).status).toBe(429);
  await ask();
});

test("RATE_LIMIT_ENABLED=false turns every limit off", async () => {
  const env = { RATE_LIMIT_ENABLED: "false", RATE_LIMIT_DEFAULT: "1/hour", RATE_LIMIT_LOGIN: "1/hour" };
  await using service = await startService({ env });
  for (let count = 0; count < 3; count++) {
    const answer = await login(service);
    expect(answer.status).toBe(401);
    expect(remaining(answer)).toBeNull();
  }
});

test("another client has counters of its own", async () => {
  await using service = await startLimited({ RATE_LIMIT_DEFAULT: "1/hour", TRUST_PROXY: "1" });
  const from = (address: string) =>
    service.call("GET", "/todos", { headers: { "x-forwarded-for": address } });
  expect((await from("192.0.2.1")).status).toBe(200);
  expect((await from("192.0.2.1")).status).toBe(429);
  expect((await from("192.0.2.2")).status).toBe(200);
});
