/** A full queue: what is over it is told so at once, what waits in it is answered, and everything else goes on. */
import { describe, expect, test } from "bun:test";
import { type Service, startService } from "../../support/service.ts";

const QUEUED_LOGINS = 8;
/** Long derivations that hold the only lane and the first places of the queue, for seconds if they are let. */
const BLOCKERS = 4;
const BLOCKER = { password: new Uint8Array(1), salt: new Uint8Array(1), iterations: 10_000_000 };
/** What the service promises for a login that is turned away. */
const SHED_WITHIN_MS = 50;

/** A service whose queue is full of logins that really wait; `release` lets them have their turn. */
async function startFull() {
  const service = await startService({
    env: { HASH_KERNEL: "portable", HASH_QUEUE_LIMIT: String(BLOCKERS - 1 + QUEUED_LOGINS) },
  });
  const person = await service.person();
  const blockers = new AbortController();
  for (let index = 0; index < BLOCKERS; index++) {
    service.hasher.derive({ ...BLOCKER, signal: blockers.signal }).catch(() => undefined);
  }
  let answered = 0;
  const queued = Array.from({ length: QUEUED_LOGINS }, async () => {
    const { status } = await login(service, person);
    answered += 1;
    return status;
  });
  while (service.hasher.stats().queueLength < service.hasher.stats().queueLimit) await Bun.sleep(1);
  return {
    service,
    person,
    queued,
    answered: () => answered,
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

/** The median, since one answer of many may meet a collection of garbage or a busy neighbour. */
async function medianMs(ask: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 15; round++) {
    const sentAt = performance.now();
    await ask();
    times.push(performance.now() - sentAt);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.POSITIVE_INFINITY;
}

describe("while the queue is full", () => {
  test("a login more is a 503 that says when to come back, at once and before any that waits is answered", async () => {
    await using full = await startFull();
    const { service, person } = full;
    const shed = await login(service, person);
    expect(shed.status).toBe(503);
    expect(shed.body).toEqual({ detail: "Too many passwords are waiting to be checked" });
    expect(shed.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
    const median = await medianMs(async () => expect((await login(service, person)).status).toBe(503));
    expect(full.answered()).toBe(0);
    expect(median).toBeLessThan(SHED_WITHIN_MS);
  });

  test("registering and a new password are shed the same way, and nothing of them is kept", async () => {
    await using full = await startFull();
    const { service, person } = full;
    const body = { email: "late@example.org", username: "late", password: "correct horse battery" };
    expect((await service.call("POST", "/auth/register", { body })).status).toBe(503);
    const change = { token: person.token, body: { username: "renamed", password: "another password" } };
    expect((await service.call("PATCH", "/auth/me", change)).status).toBe(503);
    const rows = await service.sql<{ username: string }>("select username from users");
    expect(rows).toEqual([{ username: person.username }]);
  });

  test("probes, todos and /auth/me answer as ever, before any login that waits", async () => {
    await using full = await startFull();
    const { service, person } = full;
    for (const path of ["/healthz", "/readyz", "/todos", "/auth/me"]) {
      const median = await medianMs(async () => {
        expect((await service.call("GET", path, { token: person.token })).status).toBe(200);
      });
      expect([path, median < SHED_WITHIN_MS]).toEqual([path, true]);
    }
    expect(full.answered()).toBe(0);
  });

  test("what waits is answered when its turn comes, and then there is room again", async () => {
    await using full = await startFull();
    full.release();
    expect(await Promise.all(full.queued)).toEqual(full.queued.map(() => 200));
    expect((await login(full.service, full.person)).status).toBe(200);
  });

  test("each that was turned away is one line, with its reason and no stack", async () => {
    await using full = await startFull();
    const { service, person } = full;
    const shed = await login(service, person);
    await service.request("/healthz");
    const lines = service.log.filter(({ request_id }) => request_id === shed.headers.get("x-request-id"));
    expect(lines).toMatchObject([
      { level: 40, status: 503, route: "/auth/login", err: { type: "QueueFull", code: "HASH_QUEUE_FULL" } },
    ]);
    expect(JSON.stringify(lines)).not.toContain("stack");
  });
});
