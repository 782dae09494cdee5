/** Familiar networks, from which logins are not limited per e-mail: which networks are familiar, and until when. */
import { expect, test } from "bun:test";
import { type Database, DatabaseUnavailable } from "@latchkey/database";
import { createMemoryBudgetStore } from "../../../src/rate-limit/memory-budget-store.ts";
import { cheapHasher } from "../../support/cheap-hasher.ts";
import { createClock } from "../../support/clock.ts";
import { type Service, type ServiceOptions, startService } from "../../support/service.ts";
import {
  ABROAD,
  exhaust,
  from,
  HOME,
  logIn,
  owner,
  register,
  THROTTLED,
  WRONG,
} from "../../support/throttled-logins.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Changes when the owner's networks were stored. */
const age = (service: Service, days: number) =>
  service.sql(
    `update user_networks set last_seen_at = '${new Date(Date.now() - days * DAY_MS).toISOString()}'`,
  );

const networkRows = (service: Service) =>
  service.sql<{ user_id: number; network_digest: string; last_seen_at: string | Date }>(
    "select * from user_networks",
  );

const start = (options: ServiceOptions = {}): Promise<Service> =>
  startService({ ...options, env: THROTTLED });

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
  expect(digests).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^[0-9a-f]{32}$/)]);
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
  expect(calls.splice(0)).toEqual(["find"]);
  await logIn(service, HOME);
  await age(service, 0.9);
  await logIn(service, HOME);
  expect(calls.splice(0)).toEqual(["find", "find", "find", "find"]);
  await age(service, 1.1);
  await logIn(service, HOME);
  await logIn(service, HOME);
  expect(calls.splice(0)).toEqual(["find", "find", "store", "find", "find"]);
});

test("if the network of a login cannot be stored, the login succeeds, and its log line contains the error", async () => {
  const failure = new DatabaseUnavailable("DEADLINE");
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    users: { ...database.users, storeNetwork: () => Promise.reject(failure) },
  });
  await using service = await start({ wrapDatabase });
  await register(service);
  expect((await logIn(service, ABROAD)).status).toBe(200);
  await service.call("GET", "/healthz");
  const lines = service.log.filter(({ event }) => event === "login.succeeded");
  expect(lines).toMatchObject([
    {
      level: 40,
      request_id: expect.any(String),
      err: { type: "NetworkNotStored", cause: { code: "DATABASE_UNAVAILABLE" } },
    },
  ]);
});

test("after the operator replaces the password, every network is unfamiliar, also that of a login in flight", async () => {
  const clock = createClock();
  const password = "replaced by the operator";
  let beforeStore = async (): Promise<void> => undefined;
  const wrapDatabase = (database: Database): Database => ({
    ...database,
    users: {
      ...database.users,
      storeNetwork: (...args) => beforeStore().then(() => database.users.storeNetwork(...args)),
    },
  });
  await using service = await start({
    wrapDatabase,
    createBudgetStore: (budget) => createMemoryBudgetStore({ ...budget, now: clock.now }),
  });
  await register(service);
  for (const address of ["203.0.113.100", "203.0.113.101"])
    expect((await logIn(service, address)).status).toBe(200);
  // As `bun run admin users set-password`.
  beforeStore = async () => {
    const hashedPassword = await cheapHasher(service.hasher).hash(password);
    await service.database.users.update(1, { hashedPassword });
  };
  expect((await logIn(service, "203.0.113.102")).status).toBe(200);
  beforeStore = async () => undefined;
  expect(await networkRows(service)).toEqual([]);
  for (let attempt = 0; attempt < 7; attempt++)
    expect((await logIn(service, "203.0.113.100")).status).toBe(401);
  for (const address of ["203.0.113.100", "203.0.113.102", HOME])
    expect((await logIn(service, address, { ...owner, password })).status).toBe(429);
  clock.advance(15 * 60_000);
  for (let login = 0; login < 2; login++)
    expect((await logIn(service, HOME, { ...owner, password })).status).toBe(200);
});

test("a password change deletes all networks, except its own if it contains the current password; a revocation deletes none", async () => {
  await using service = await start();
  const password = "a new password";
  const tokenFrom = async (address: string, credentials = owner) =>
    (await logIn(service, address, credentials)).expect<{ access_token: string }>(200).access_token;
  const change = async (token: string, body: object) =>
    (await service.call("PATCH", "/auth/me", { token, body, ...from(ABROAD) })).expect(200);
  const digests = async () => (await networkRows(service)).map(({ network_digest }) => network_digest);
  await register(service);
  const [home] = await digests();
  await service.call("DELETE", "/auth/tokens", { token: await tokenFrom(ABROAD) });
  const token = await tokenFrom(ABROAD);
  await change(token, { username: "renamed", current_password: owner.password });
  const both = await digests();
  expect(both).toHaveLength(2);
  await change(token, { password, current_password: owner.password });
  expect(await digests()).toEqual(both.filter((digest) => digest !== home));
  await change(await tokenFrom(HOME, { ...owner, password }), { password });
  expect(await digests()).toEqual([]);
});
