/**
 * Logins per e-mail: ten attempts from unfamiliar networks, then one every 15 minutes; and which networks are familiar, from which
 * logins are not limited.
 */
import { expect, test } from "bun:test";
import type { Token } from "@latchkey/contracts";
import { DatabaseUnavailable } from "@latchkey/database";
import { QueueFull } from "@latchkey/hashing";
import { privateKeyVariables } from "@latchkey/testing/keys";
import { createFamiliarNetworks } from "../../../src/features/auth/familiar-networks.ts";
import { timedDatabase } from "../../../src/observability/timed-database.ts";
import { createMemoryStore } from "../../../src/rate-limit/store.ts";
import { createClock } from "../../support/clock.ts";
import { type Service, type ServiceOptions, startService } from "../../support/service.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const HOME = "192.0.2.1";
const ABROAD = "198.51.100.7";
const UNKNOWN = "nobody@example.org";
const owner = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
const wrong = { ...owner, password: "not the password" };
const LIMITED = {
  detail: "429: Too Many Requests: too many attempts for this e-mail",
  code: "TOO_MANY_REQUESTS",
};

/** High quotas per address: only the limits per e-mail are reached. */
const start = ({ env, ...options }: ServiceOptions = {}): Promise<Service> =>
  startService({
    ...options,
    env: {
      RATE_LIMIT_ENABLED: "true",
      RATE_LIMIT_LOGIN: "1000/hour",
      RATE_LIMIT_REGISTER: "1000/hour",
      TRUST_PROXY: "1",
      ...env,
    },
  });

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const register = (service: Service, address = HOME, body: object = owner) =>
  service.call("POST", "/auth/register", { body, ...from(address) });
const logIn = (service: Service, address: string, body: object = owner) =>
  service.call("POST", "/auth/login", { body, ...from(address) });
const statusOf = async (...login: Parameters<typeof logIn>) => (await logIn(...login)).status;

/** Takes all attempts of the e-mail from other networks. */
async function exhaust(service: Service, email = owner.email): Promise<void> {
  for (let index = 0; index < 10; index++)
    expect(await statusOf(service, `203.0.113.${index}`, { ...wrong, email })).toBe(401);
}

const networkRows = (service: Service) =>
  service.sql<{ network_digest: string; last_seen_at: string | Date }>("select * from user_networks");
const digestsOf = async (service: Service) =>
  (await networkRows(service)).map(({ network_digest }) => network_digest);

/** Changes when the owner's networks were stored. */
const age = (service: Service, days: number) =>
  service.sql(
    `update user_networks set last_seen_at = '${new Date(Date.now() - days * DAY_MS).toISOString()}'`,
  );

test("from unfamiliar networks, the eleventh attempt for an e-mail returns 429, also with the correct password", async () => {
  const clock = createClock();
  const { tokenBucket } = createMemoryStore(clock.now);
  await using service = await start({ store: { ...createMemoryStore(), tokenBucket } });
  await register(service);
  await exhaust(service);
  clock.advance(60_000);
  const derivations = service.derivations();
  const limited = await logIn(service, ABROAD);
  expect(service.derivations()).toBe(derivations);
  expect([limited.status, limited.body]).toEqual([429, LIMITED]);
  expect(limited.headers.get("retry-after")).toBe("840");
  // The login quota of this address.
  expect(limited.headers.get("ratelimit-limit")).toBe("1000");
  expect(limited.headers.get("ratelimit-remaining")).toBe("999");
  expect(Number(limited.headers.get("ratelimit-reset"))).toBeWithin(3_500, 3_601);
  clock.advance(839_999);
  const last = await logIn(service, ABROAD);
  expect([last.status, last.headers.get("retry-after")]).toEqual([429, "1"]);
  clock.advance(1);
  expect(await statusOf(service, ABROAD)).toBe(200);
});

test("a limited attempt is rejected ten milliseconds after it began, however long the lookup of a user takes", async () => {
  const events: string[] = [];
  const networks = createFamiliarNetworks({
    users: { storeNetwork: async () => {} },
    digests: { email: (email) => email, network: () => "" },
    store: { ...createMemoryStore(), tokenBucket: () => ({ take: () => 1, read: () => 1 }) },
  });
  const deduct = networks.beginLogin(UNKNOWN);
  const timers = [5, 10].map((ms) =>
    Bun.sleep(ms).then(() => events.push(`${ms} ms after the lookup began`)),
  );
  const startedAt = performance.now();
  while (performance.now() < startedAt + 0.5);
  await Promise.all([...timers, deduct(null).catch(({ code }) => events.push(code))]);
  const [before, after] = [5, 10].map((ms) => `${ms} ms after the lookup began`);
  expect<unknown>(events).toEqual([before, "TOO_MANY_REQUESTS", after]);
});

test("an attempt that validation or the login quota rejects is not deducted; one without a derivation is", async () => {
  await using service = await start({
    env: { RATE_LIMIT_LOGIN: "1/hour" },
    wrapHasher: () => ({ verify: () => Promise.reject(new QueueFull(1)) }),
  });
  for (let index = 0; index < 20; index++)
    expect(await statusOf(service, HOME, { ...wrong, password: 1 })).toBe(422);
  expect(await statusOf(service, HOME, wrong)).toBe(503);
  for (let index = 0; index < 20; index++)
    expect((await logIn(service, HOME, wrong)).text).toContain("429: Too Many Requests: 1 per 1 hour");
  for (let index = 0; index < 9; index++)
    expect(await statusOf(service, `203.0.113.${index}`, wrong)).toBe(503);
  expect((await logIn(service, ABROAD, wrong)).body).toEqual(LIMITED);
});

test("the network of a registration and of a successful login are familiar and never limited", async () => {
  await using service = await start();
  await register(service);
  expect(await statusOf(service, ABROAD)).toBe(200);
  for (let index = 0; index < 9; index++) await logIn(service, `203.0.113.${index}`, wrong);
  expect(await statusOf(service, "203.0.113.99")).toBe(429);
  for (const address of [HOME, ABROAD]) {
    for (let attempt = 0; attempt < 12; attempt++) expect(await statusOf(service, address, wrong)).toBe(401);
    expect(await statusOf(service, address)).toBe(200);
  }
});

test("a failed login does not make a network familiar, and networks are familiar for one user only", async () => {
  await using service = await start();
  await register(service);
  await register(service, ABROAD, { ...owner, email: "other@example.org", username: "other" });
  await exhaust(service);
  expect(await statusOf(service, "203.0.113.0")).toBe(429);
  expect(await statusOf(service, ABROAD)).toBe(429);
  const digest = expect.stringMatching(/^[0-9a-f]{32}$/);
  expect(await digestsOf(service)).toEqual([digest, digest]);
});

test("without a private key, the correct password of an inactive user logs in, with an event of its own", async () => {
  await using service = await start();
  await register(service);
  await service.database.users.changeAsOperator(1, { isActive: false });
  expect((await logIn(service, HOME, wrong)).status).toBe(401);
  expect(await statusOf(service, HOME)).toBe(200);
  await service.database.users.changeAsOperator(1, { isActive: true });
  expect(await statusOf(service, HOME)).toBe(200);
  await service.request("/healthz");
  const events = service.log.flatMap(({ event, user_id }) => (event ? [`${event} ${user_id}`] : []));
  expect(events.slice(1)).toEqual(["login.failed 1", "login.inactive 1", "login.succeeded 1"]);
});

test("with a private key, the correct password of an inactive user returns 403 and makes no network familiar", async () => {
  await using service = await start({ env: privateKeyVariables("EdDSA") });
  await register(service);
  await service.database.users.changeAsOperator(1, { isActive: false });
  expect((await logIn(service, ABROAD, wrong)).body).toMatchObject({ code: "INVALID_CREDENTIALS" });
  expect(await logIn(service, ABROAD)).toMatchObject({ status: 403, body: { code: "INACTIVE_USER" } });
  expect(await networkRows(service)).toHaveLength(1);
  await service.database.users.changeAsOperator(1, { isActive: true });
  expect(await statusOf(service, ABROAD)).toBe(200);
  // A line is written after its response.
  const events = service.log.flatMap(({ event, user_id }) => (event ? [`${event} ${user_id}`] : []));
  expect(events.slice(1, 3)).toEqual(["login.failed 1", "login.inactive 1"]);
});

test("a network, an IPv4 address or an IPv6 /64, is familiar for 30 days, and each login after the first day renews it", async () => {
  await using service = await start();
  await register(service, "2001:db8:1:2::1");
  await exhaust(service);
  await age(service, 29.9);
  const sameNetwork = "2001:db8:1:2:ffff::9";
  expect(await statusOf(service, sameNetwork)).toBe(200);
  expect(await statusOf(service, "2001:db8:1:3::1")).toBe(429);
  await age(service, 30.1);
  expect(await statusOf(service, sameNetwork)).toBe(429);
  await age(service, 29.9);
  expect(await statusOf(service, sameNetwork)).toBe(200);
  const [renewed] = await networkRows(service);
  expect(Date.now() - new Date(renewed?.last_seen_at ?? 0).getTime()).toBeLessThan(60_000);
});

test("a login reads the user twice, also a wrong or unknown one, and an authenticated request once; its network and its time are written at most once a day", async () => {
  const calls: string[] = [];
  await using service = await start({
    wrapDatabase: (database) =>
      timedDatabase(database, {
        timeQuery: (operation, query) => {
          calls.push(operation);
          return query();
        },
      }),
  });
  const reads = ["users.findByEmail", "users.findByEmail"];
  await register(service);
  expect(calls.splice(0)).toEqual(["users.findByEmail", "users.create"]);
  await age(service, 0.9);
  await logIn(service, HOME);
  expect(calls.splice(0)).toEqual([...reads, "users.storeLogin"]);
  for (const body of [owner, wrong, { ...owner, email: UNKNOWN }]) {
    await logIn(service, HOME, body);
    expect(calls.splice(0)).toEqual(reads);
  }
  await age(service, 1.1);
  const { access_token: token } = (await logIn(service, HOME)).expect<Token>(200);
  expect(calls.splice(0)).toEqual([...reads, "users.storeNetwork"]);
  await logIn(service, HOME);
  expect(calls.splice(0)).toEqual(reads);
  await service.call("GET", "/auth/me", { token });
  expect(calls).toEqual(["users.findAuthenticated"]);
});

test("the network of a login whose tokens were revoked before it was stored does not become familiar", async () => {
  await using service = await start({
    wrapDatabase: ({ users }) => ({
      users: {
        storeNetwork: async (id, ...network) => {
          await users.revokeTokens(id);
          return users.storeNetwork(id, ...network);
        },
      },
    }),
  });
  await register(service);
  const registered = await digestsOf(service);
  expect(await statusOf(service, ABROAD)).toBe(200);
  expect(await digestsOf(service)).toEqual(registered);
});

test.each([
  ["network", "storeNetwork", "NetworkNotStored"],
  ["time", "storeLogin", "LoginTimeNotStored"],
])(
  "if the %s of a login cannot be stored, the login succeeds, and its log line contains the error",
  async (_, method, type) => {
    const fail = () => Promise.reject(new DatabaseUnavailable("DEADLINE"));
    await using service = await start({ wrapDatabase: () => ({ users: { [method]: fail } }) });
    await register(service);
    expect(await statusOf(service, ABROAD)).toBe(200);
    await service.call("GET", "/healthz");
    const err = { type, cause: { code: "DATABASE_UNAVAILABLE" } };
    expect(service.log.filter(({ event }) => event === "login.succeeded")).toMatchObject([
      { level: 40, request_id: expect.any(String), err },
    ]);
  },
);

test("a password change deletes all networks, except its own if it contains the current password; a revocation deletes none", async () => {
  await using service = await start();
  const password = "a new password";
  const tokenFrom = async (address: string, credentials = owner) =>
    (await logIn(service, address, credentials)).expect<Token>(200).access_token;
  const change = async (token: string, body: object) =>
    (await service.call("PATCH", "/auth/me", { token, body, ...from(ABROAD) })).expect(200);
  await register(service);
  const [home] = await digestsOf(service);
  await service.call("DELETE", "/auth/tokens", { token: await tokenFrom(ABROAD) });
  const token = await tokenFrom(ABROAD);
  await change(token, { username: "renamed", current_password: owner.password });
  const both = await digestsOf(service);
  expect(both).toHaveLength(2);
  await change(token, { password, current_password: owner.password });
  expect(await digestsOf(service)).toEqual(both.filter((digest) => digest !== home));
  await change(await tokenFrom(HOME, { ...owner, password }), { password });
  expect(await digestsOf(service)).toEqual([]);
});
