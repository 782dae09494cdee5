/** At most ten wrong values per user are verified. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { QueueFull } from "@latchkey/hashing";
import {
  createWrongPasswordLimit,
  type WrongPasswordLimit,
} from "../../../src/features/auth/wrong-password-limit.ts";
import { createMemoryStore } from "../../../src/rate-limit/store.ts";
import { createClock } from "../../support/clock.ts";
import { startService } from "../../support/service.ts";

const ada = { id: 1, tokenVersion: 0 };
const DAY_MS = 24 * 60 * 60 * 1000;

/** Verifies 40 values of one user at the same time, and returns how many were verified and how many rejected. */
async function verifyTogether(limit: WrongPasswordLimit, isCorrect: boolean) {
  let verified = 0;
  const attempts = Array.from({ length: 40 }, () =>
    limit.verify(ada, async () => {
      verified += 1;
      await new Promise((resolve) => setImmediate(resolve));
      return isCorrect;
    }),
  );
  const outcomes = await Promise.allSettled(attempts);
  return { verified, rejected: outcomes.filter(({ status }) => status === "rejected").length };
}

test("of forty simultaneous wrong values, ten are verified, and ten more a day later; each user has a separate limit", async () => {
  const { now, advance } = createClock();
  const limit = createWrongPasswordLimit(createMemoryStore(now));
  expect(await verifyTogether(limit, false)).toEqual({ verified: 10, rejected: 30 });
  await expect(limit.verify(ada, async () => true)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  expect(await limit.verify({ ...ada, id: 2 }, async () => true)).toBe(true);
  advance(DAY_MS - 1);
  expect(await verifyTogether(limit, false)).toMatchObject({ verified: 0 });
  advance(1);
  expect(await verifyTogether(limit, false)).toMatchObject({ verified: 10 });
});

test("right values, rejected ones and those whose verification fails do not use up the limit", async () => {
  const limit = createWrongPasswordLimit(createMemoryStore());
  await verifyTogether(limit, true);
  for (let count = 1; count <= 9; count++) expect(await limit.verify(ada, async () => false)).toBe(false);
  await verifyTogether(limit, true);
  for (let count = 1; count <= 12; count++)
    await expect(limit.verify(ada, () => Promise.reject(new QueueFull(1)))).rejects.toThrow(QueueFull);
  expect(await limit.verify(ada, async () => false)).toBe(false);
  await expect(limit.verify(ada, async () => false)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
});

test("the count belongs to a token version, and a login ends it", async () => {
  const limit = createWrongPasswordLimit(createMemoryStore());
  await verifyTogether(limit, false);
  expect(await limit.verify({ ...ada, tokenVersion: 1 }, async () => false)).toBe(false);
  await limit.clear({ ...ada, tokenVersion: 1 });
  await expect(limit.verify(ada, async () => true)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
  await limit.clear(ada);
  expect(await verifyTogether(limit, false)).toEqual({ verified: 10, rejected: 30 });
});

test("a value that does not match as sent counts, also if its second verification fails, but not if that one matches", async () => {
  const limit = createWrongPasswordLimit(createMemoryStore());
  const verify = (second: () => Promise<boolean>) =>
    limit.verify(ada, (mismatched) => {
      mismatched();
      return second();
    });
  for (let count = 1; count <= 12; count++) expect(await verify(async () => true)).toBe(true);
  for (let count = 1; count <= 10; count++)
    await expect(verify(() => Promise.reject(new QueueFull(1)))).rejects.toThrow(QueueFull);
  await expect(verify(async () => true)).rejects.toMatchObject({ code: "TOO_MANY_REQUESTS" });
});

test("wrong values whose client leaves during the second verification, in NFC, use up the limit", async () => {
  const guess = "caf\u0065\u0301 au lait";
  let leave = () => {};
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_PASSWORD_CHANGE: "1000/minute" },
    wrapHasher: ({ verify }) => ({
      async verify(password, stored, options) {
        if (password === guess.normalize("NFC")) {
          leave();
          if (options?.signal) await once(options.signal, "abort");
        }
        return verify(password, stored, options);
      },
    }),
  });
  const { token } = await service.createUser();
  const change = (signal: AbortSignal) =>
    service.call("PATCH", "/auth/me", { token, body: { current_password: guess }, signal });
  for (let index = 0; index < 10; index++) {
    const client = new AbortController();
    leave = () => client.abort();
    await expect(change(client.signal)).rejects.toThrow();
  }
  leave = () => {};
  expect((await change(AbortSignal.timeout(5_000))).status).toBe(429);
});

test("a login with the password ends the count; a wrong one and another user's do not", async () => {
  const env = {
    RATE_LIMIT_ENABLED: "true",
    RATE_LIMIT_PASSWORD_CHANGE: "1000/minute",
    RATE_LIMIT_LOGIN: "1000/minute",
  };
  await using service = await startService({ env });
  const [user, other] = [await service.createUser(), await service.createUser()];
  const change = async (current_password: string) =>
    (await service.call("PATCH", "/auth/me", { token: user.token, body: { current_password } })).status;
  for (let count = 1; count <= 10; count++) expect(await change("wrong")).toBe(403);
  await service.login(other);
  await service.call("POST", "/auth/login", { body: { email: user.user.email, password: "wrong" } });
  expect(await change(user.password)).toBe(429);
  await service.login(user);
  expect(await change(user.password)).toBe(200);
  for (let count = 1; count <= 10; count++) expect(await change("wrong")).toBe(403);
  expect(await change(user.password)).toBe(429);
});
