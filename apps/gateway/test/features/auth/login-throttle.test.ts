/** Logins per e-mail: ten attempts from unfamiliar networks, then one every 15 minutes; see also `familiar-networks.test.ts`. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { createMemoryBudgetStore } from "../../../src/rate-limit/memory-budget-store.ts";
import { createClock } from "../../support/clock.ts";
import { type Service, type ServiceOptions, startService } from "../../support/service.ts";
import {
  ABROAD,
  exhaust,
  HOME,
  logIn,
  owner,
  register,
  THROTTLED,
  WRONG,
} from "../../support/throttled-logins.ts";

const LIMITED = {
  detail: "429: Too Many Requests: too many attempts for this e-mail",
  code: "TOO_MANY_REQUESTS",
};
test("from unfamiliar networks, the eleventh attempt for an e-mail returns 429, also with the correct password", async () => {
  const clock = createClock();
  await using service = await startService({
    env: THROTTLED,
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
  expect(await service.sql("select * from user_networks")).toEqual([]);
});
