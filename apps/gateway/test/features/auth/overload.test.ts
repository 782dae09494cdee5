/** A full hash queue: further logins return 503 at once, queued logins succeed, and other routes are not affected. */
import { afterAll, describe, expect, test } from "bun:test";
import { type Service, startService } from "../../support/service.ts";

const QUEUED_LOGINS = 8;
/** Derivations that occupy the only lane and the front of the queue until they are aborted: longer than these tests take. */
const BLOCKERS = 64;
/** The queue counts in units of 600,000 iterations. A login of these tests has one iteration. */
const UNIT = 600_000;
const BLOCKER_UNITS = 4;
const BLOCKER = { password: new Uint8Array(1), salt: new Uint8Array(1), iterations: BLOCKER_UNITS * UNIT };

/** A service whose queue is full of waiting logins; `release` aborts the derivations in front of them. */
async function startFull() {
  const service = await startService({
    env: {
      HASH_KERNEL: "portable",
      HASH_QUEUE_LIMIT: String(BLOCKERS * BLOCKER_UNITS),
      // Longer than these tests take: the queue stays in order.
      HASH_QUEUE_SECONDS: "600",
    },
  });
  const user = await service.createUser();
  const blockers = new AbortController();
  /** The queue stays full even when a blocker ends by itself. */
  const block = (): void => {
    service.hasher.derive({ ...BLOCKER, signal: blockers.signal }).then(block, () => undefined);
  };
  for (let index = 0; index < BLOCKERS; index++) block();
  let completed = 0;
  const queued = Array.from({ length: QUEUED_LOGINS }, async () => {
    const { status } = await login(service, user);
    completed += 1;
    return status;
  });
  const waiting = (BLOCKERS - 1) * BLOCKER_UNITS + (QUEUED_LOGINS - 0.5) / UNIT;
  while (service.hasher.stats().queueLength < waiting) await Bun.sleep(1);
  block();
  return {
    service,
    user,
    queued,
    completed: () => completed,
    release: () => blockers.abort(),
    async [Symbol.asyncDispose]() {
      blockers.abort();
      await Promise.all(queued);
      await service[Symbol.asyncDispose]();
    },
  };
}

const login = (service: Service, { email, password }: { email: string; password: string }) =>
  service.call("POST", "/auth/login", { body: { email, password } });

describe("while the queue is full", async () => {
  const full = await startFull();
  afterAll(() => full[Symbol.asyncDispose]());

  test("another login returns 503 with Retry-After at once, before any queued login completes, and writes one log line with the reason", async () => {
    const { service, user } = full;
    const rejected = await login(service, user);
    expect(rejected.status).toBe(503);
    expect(rejected.body).toEqual({
      detail: "Too many passwords are waiting to be checked",
      code: "HASH_QUEUE_FULL",
    });
    expect(rejected.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    await service.request("/healthz");
    const lines = service.log.filter(({ request_id }) => request_id === rejected.headers.get("x-request-id"));
    expect(lines).toMatchObject([
      { level: 40, status: 503, route: "/auth/login", err: { type: "QueueFull", code: "HASH_QUEUE_FULL" } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("stack");
    expect(full.completed()).toBe(0);
  });

  test("registrations and password changes return 503 as well, and store nothing", async () => {
    const { service, user } = full;
    const body = { email: "late@example.org", username: "late", password: "correct horse battery" };
    expect((await service.call("POST", "/auth/register", { body })).status).toBe(503);
    const change = { token: user.token, body: { username: "renamed", password: "another password" } };
    expect((await service.call("PATCH", "/auth/me", change)).status).toBe(503);
    const rows = await service.sql<{ username: string }>("select username from users");
    expect(rows).toEqual([{ username: user.username }]);
  });

  test("probes, todos and /auth/me respond at once, before any queued login completes", async () => {
    const { service, user } = full;
    for (const path of ["/healthz", "/readyz", "/todos", "/auth/me"]) {
      const { status } = await service.call("GET", path, { token: user.token });
      expect([path, status]).toEqual([path, 200]);
    }
    expect(full.completed()).toBe(0);
  });

  test("queued logins succeed when the queue advances, and then new logins are accepted", async () => {
    full.release();
    expect(await Promise.all(full.queued)).toEqual(full.queued.map(() => 200));
    expect((await login(full.service, full.user)).status).toBe(200);
  });
});
