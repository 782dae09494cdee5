/** Login: its responses, that all failures are identical, and what each login costs. */
import { expect, test } from "bun:test";
import type { Hasher } from "@latchkey/hashing";
import { startService } from "../../support/service.ts";

test("login returns 200 with exactly an access token and the type bearer", async () => {
  await using service = await startService();
  const { email, password } = await service.register();
  const response = await service.call("POST", "/auth/login", { body: { email, password } });
  expect(response.status).toBe(200);
  expect(response.body).toEqual({
    access_token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
    token_type: "bearer",
  });
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("login accepts the e-mail in any case and with surrounding whitespace", async () => {
  await using service = await startService();
  const { password } = await service.register({ email: "Grace@Example.org" });
  for (const email of ["grace@example.org", "GRACE@EXAMPLE.ORG", " \tgRACE@example.ORG\n"]) {
    expect(await service.login({ email, password })).toBeString();
  }
});

test("a login with a password of 0, 1, 7, 129 or 100,000 characters returns 401, not 422", async () => {
  await using service = await startService();
  const { email } = await service.register();
  for (const length of [0, 1, 7, 129, 100_000]) {
    const body = { email, password: "p".repeat(length) };
    expect((await service.call("POST", "/auth/login", { body })).status).toBe(401);
  }
});

test("passwords are not trimmed, normalized or case-folded", async () => {
  await using service = await startService();
  const composed = " p\u00e4ssw\u00f6rd K ";
  const { email } = await service.register({ password: composed });
  const others = [composed.trim(), composed.normalize("NFD"), composed.toLowerCase(), `${composed} `];
  for (const password of others) {
    expect((await service.call("POST", "/auth/login", { body: { email, password } })).status).toBe(401);
  }
  expect(await service.login({ email, password: composed })).toBeString();
});

test("an inactive user can log in but gets 403, and a change of is_active takes effect on the next request", async () => {
  await using service = await startService();
  const { email, password, user } = await service.register();
  await service.sql("update users set is_active = false");
  const token = await service.login({ email, password });
  const response = await service.call("GET", "/auth/me", { token });
  expect([response.status, response.body]).toEqual([
    403,
    { detail: "The user is inactive", code: "INACTIVE_USER" },
  ]);
  await service.sql("update users set is_active = true");
  expect((await service.call("GET", "/auth/me", { token })).body).toEqual(user);
});

test("logins of disconnected clients leave the queue without a derivation", async () => {
  const waiting = 5;
  const outcomes: Promise<unknown>[] = [];
  const allQueued = Promise.withResolvers<void>();
  const wrapHasher = (hasher: Hasher): Hasher => ({
    ...hasher,
    verify(...call) {
      const outcome = hasher.verify(...call);
      outcomes.push(outcome.catch((error: Error) => error.name));
      if (outcomes.length === waiting) allQueued.resolve();
      return outcome;
    },
  });
  await using service = await startService({ hashing: "production", wrapHasher });
  const disconnect = new AbortController();
  const attempts = Array.from({ length: waiting }, (_, index) => {
    const body = { email: `nobody${index}@example.org`, password: "whatever" };
    return service.call("POST", "/auth/login", { body, signal: disconnect.signal });
  });
  await allQueued.promise;
  disconnect.abort();
  await Promise.allSettled(attempts);
  expect(await Promise.all(outcomes)).toEqual(Array(waiting).fill("AbortError"));
  const { aborted, queueLength, completed } = service.hasher.stats();
  expect({ aborted, queueLength, completed }).toEqual({ aborted: waiting, queueLength: 0, completed: 0 });
});
