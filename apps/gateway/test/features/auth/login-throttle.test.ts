/** Logins per e-mail: ten attempts from unfamiliar networks, then one every 15 minutes; familiar networks are not limited. */
import { expect, test } from "bun:test";
import { type Database, DatabaseUnavailable } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { createMemoryBudgetStore } from "../../../src/rate-limit/memory-budget-store.ts";
import type { ClientResponse } from "../../support/client.ts";
import { createClock } from "../../support/clock.ts";
import { eachDatabase, type Service, type ServiceOptions, startService } from "../../support/service.ts";

const HOME = "192.0.2.1";
const ABROAD = "198.51.100.7";
const owner = { email: "owner@example.org", username: "owner", password: "correct horse battery" };
const WRONG = "not the password";
const LIMITED = {
  detail: "429: Too Many Requests: too many attempts for this e-mail",
  code: "TOO_MANY_REQUESTS",
};
const DAY_MS = 24 * 60 * 60 * 1000;

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const logIn = (service: Service, address: string, body: object = owner): Promise<ClientResponse> =>
  service.call("POST", "/auth/login", { body, ...from(address) });
const register = async (service: Service, address = HOME): Promise<void> => {
  const response = await service.call("POST", "/auth/register", { body: owner, ...from(address) });
  expect(response.status).toBe(201);
};

/** Takes all attempts of the e-mail from other networks. */
async function exhaust(service: Service, email = owner.email): Promise<void> {
  for (let index = 0; index < 10; index++) {
    const response = await logIn(service, `203.0.113.${index}`, { email, password: WRONG });
    expect(response.status).toBe(401);
  }
}

/** Changes when the owner's networks were stored. */
const age = (service: Service, days: number) =>
  service.sql(
    `update user_networks set last_seen_at = '${new Date(Date.now() - days * DAY_MS).toISOString()}'`,
  );

const networkRows = (service: Service) =>
  service.sql<{ user_id: number; network_digest: string; last_seen_at: string | Date }>(
    "select * from user_networks",
  );

eachDatabase((startOn) => {
  const start = (options: ServiceOptions = {}, env: Record<string, string> = {}): Promise<Service> =>
    startOn({
      ...options,
      env: {
        RATE_LIMIT_ENABLED: "true",
        RATE_LIMIT_LOGIN: "1000/hour",
        RATE_LIMIT_REGISTER: "1000/hour",
        TRUST_PROXY: "1",
        ...env,
      },
    });

  test("from unfamiliar networks, the eleventh attempt for an e-mail returns 429, also with the correct password", async () => {
    const clock = createClock();
    await using service = await start({
      createBudgetStore: (budget) => createMemoryBudgetStore({ ...budget, now: clock.now }),
    });
    await register(service);
    await exhaust(service);
    clock.advance(60_000);
    const limited = await logIn(service, ABROAD);
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
    expect((await logIn(service, ABROAD)).status).toBe(200);
  });

  test("the network of a registration and of a successful login are familiar and never limited", async () => {
    await using service = await start();
    await register(service);
    expect((await logIn(service, ABROAD)).status).toBe(200);
    await exhaust(service, "other@example.org");
    for (let index = 0; index < 9; index++)
      await logIn(service, `203.0.113.${index}`, { ...owner, password: WRONG });
    expect((await logIn(service, "203.0.113.99")).status).toBe(429);
    for (const address of [HOME, ABROAD]) {
      for (let attempt = 0; attempt < 12; attempt++)
        expect((await logIn(service, address, { ...owner, password: WRONG })).status).toBe(401);
      expect((await logIn(service, address)).status).toBe(200);
    }
  });

  test("a failed login does not make a network familiar, and networks are familiar for one user only", async () => {
    await using service = await start();
    await register(service);
    const other = { email: "other@example.org", username: "other", password: "correct horse battery" };
    await service.call("POST", "/auth/register", { body: other, ...from(ABROAD) });
    await exhaust(service);
    expect((await logIn(service, "203.0.113.0")).status).toBe(429);
    expect((await logIn(service, ABROAD)).status).toBe(429);
    const digests = (await networkRows(service)).map(({ network_digest }) => network_digest);
    expect(digests).toHaveLength(2);
  });

  test("a network is an IPv4 address or an IPv6 /64", async () => {
    await using service = await start();
    await register(service, "2001:db8:1:2::1");
    await exhaust(service);
    expect((await logIn(service, "2001:db8:1:2:ffff::9")).status).toBe(200);
    expect((await logIn(service, "2001:db8:1:3::1")).status).toBe(429);
    expect((await logIn(service, "192.0.2.2")).status).toBe(429);
  });

  test("a network is familiar for 30 days, and each login after the first day renews it", async () => {
    await using service = await start();
    await register(service);
    await exhaust(service);
    await age(service, 29.9);
    expect((await logIn(service, HOME)).status).toBe(200);
    await age(service, 30.1);
    expect((await logIn(service, HOME)).status).toBe(429);
    await age(service, 29.9);
    expect((await logIn(service, HOME)).status).toBe(200);
    const [renewed] = await networkRows(service);
    expect(Date.now() - new Date(renewed?.last_seen_at ?? 0).getTime()).toBeLessThan(60_000);
  });

  test("a network is written at most once a day, and users are read as often as before", async () => {
    const calls: string[] = [];
    const wrapDatabase = (database: Database): Database => ({
      ...database,
      users: {
        ...database.users,
        findByEmail: (...args) => {
          calls.push("find");
          return database.users.findByEmail(...args);
        },
        storeNetwork: (...args) => {
          calls.push("store");
          return database.users.storeNetwork(...args);
        },
      },
    });
    await using service = await start({ wrapDatabase });
    await register(service);
    expect(calls.splice(0)).toEqual(["find", "store"]);
    await logIn(service, HOME);
    await age(service, 0.9);
    await logIn(service, HOME);
    expect(calls.splice(0)).toEqual(["find", "find", "find", "find"]);
    await age(service, 1.1);
    await logIn(service, HOME);
    await logIn(service, HOME);
    expect(calls.splice(0)).toEqual(["find", "find", "store", "find", "find"]);
  });

  test("if the network cannot be stored, registration and login succeed, and their log lines contain the error", async () => {
    const failure = new DatabaseUnavailable("DEADLINE");
    const wrapDatabase = (database: Database): Database => ({
      ...database,
      users: { ...database.users, storeNetwork: () => Promise.reject(failure) },
    });
    await using service = await start({ wrapDatabase });
    await register(service);
    expect((await logIn(service, HOME)).status).toBe(200);
    await service.call("GET", "/healthz");
    const lines = service.log.filter(({ event }) => event !== undefined);
    expect(lines).toMatchObject(
      ["user.registered", "login.succeeded"].map((event) => ({
        event,
        level: 40,
        request_id: expect.any(String),
        err: { type: "NetworkNotStored", cause: { code: "DATABASE_UNAVAILABLE" } },
      })),
    );
  });

  test("the database stores digests of networks, and deletes them with the user", async () => {
    await using service = await start();
    await register(service);
    const { access_token: token } = (await logIn(service, ABROAD)).expect<{ access_token: string }>(200);
    const rows = await networkRows(service);
    expect(rows).toHaveLength(2);
    for (const { network_digest } of rows) expect(network_digest).toMatch(/^[0-9a-f]{32}$/);
    await service.call("DELETE", "/auth/me", { token });
    expect(await networkRows(service)).toEqual([]);
  });
});

const start = (env: Record<string, string>, options: ServiceOptions = {}): Promise<Service> =>
  startService({ ...options, env: { RATE_LIMIT_ENABLED: "true", TRUST_PROXY: "1", ...env } });

/** Counts derivations. */
function countVerify() {
  const counted = { derivations: 0 };
  const wrapHasher = (hasher: Hasher): Hasher => ({
    ...hasher,
    verify(...args) {
      counted.derivations += 1;
      return hasher.verify(...args);
    },
  });
  return { counted, wrapHasher };
}

test("an unknown e-mail has a budget like any other, and a limited attempt runs no derivation", async () => {
  const { counted, wrapHasher } = countVerify();
  await using service = await start({ RATE_LIMIT_LOGIN: "1000/hour" }, { wrapHasher });
  const email = "nobody@example.org";
  await exhaust(service, email);
  expect(counted.derivations).toBe(10);
  const limited = await logIn(service, HOME, { email: ` ${email.toUpperCase()} `, password: WRONG });
  expect([limited.status, limited.body]).toEqual([429, LIMITED]);
  expect(counted.derivations).toBe(10);
  expect((await logIn(service, HOME, { email: "other@example.org", password: WRONG })).status).toBe(401);
});

test("of simultaneous attempts from unfamiliar networks, ten run a derivation", async () => {
  const { counted, wrapHasher } = countVerify();
  await using service = await start({ RATE_LIMIT_LOGIN: "1000/hour" }, { wrapHasher });
  const attempts = Array.from({ length: 50 }, (_, index) =>
    logIn(service, `203.0.113.${index}`, { email: "nobody@example.org", password: WRONG }),
  );
  const statuses = (await Promise.all(attempts)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
  expect(counted.derivations).toBe(10);
});

test("an attempt that validation or the login quota rejects is not deducted; one without a derivation is", async () => {
  await using service = await start(
    { RATE_LIMIT_LOGIN: "1/hour" },
    {
      wrapHasher: (hasher) => ({
        ...hasher,
        verify: () => Promise.reject(Object.assign(new Error("full"), { code: "HASH_QUEUE_FULL" })),
      }),
    },
  );
  const body = { email: "nobody@example.org", password: WRONG };
  for (let index = 0; index < 20; index++) {
    expect((await logIn(service, HOME, { ...body, password: 1 })).status).toBe(422);
  }
  expect((await logIn(service, HOME, body)).status).toBe(503);
  for (let index = 0; index < 20; index++) {
    const { status, body: rejection } = await logIn(service, HOME, body);
    expect([status, rejection]).toMatchObject([429, { detail: "429: Too Many Requests: 1 per 1 hour" }]);
  }
  for (let index = 0; index < 9; index++)
    expect((await logIn(service, `203.0.113.${index}`, body)).status).toBe(503);
  expect((await logIn(service, ABROAD, body)).body).toEqual(LIMITED);
});

test("with RATE_LIMIT_ENABLED=false, attempts are not limited and networks are not stored", async () => {
  await using service = await start({ RATE_LIMIT_ENABLED: "false" });
  await register(service);
  for (let index = 0; index < 15; index++)
    expect((await logIn(service, `203.0.113.${index}`, { ...owner, password: WRONG })).status).toBe(401);
  expect((await logIn(service, ABROAD)).status).toBe(200);
  expect(await networkRows(service)).toEqual([]);
});
