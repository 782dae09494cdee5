/** The service on a failing PostgreSQL server: errors in time, correct probes, and no lost writes after the recovery. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Todo, TodoPage, Token } from "@latchkey/contracts";
import { inFullRun } from "@latchkey/testing/full-run";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { PATIENT_HASHING, startProcess } from "@latchkey/testing/service-process";
import { type CallOptions, callService } from "../support/client.ts";
import { newCredentials, SECRET_KEY } from "../support/service.ts";

/** Maximum times that clients and load balancers rely on. */
const RESPONSE_MS = 5_000;
const UNREADY_MS = 3_000;
const RECOVERY_MS = 10_000;
/** A third of the timeout of the probe in `deploy/kubernetes`. */
const LIVENESS_MS = 1_000;

const WRITERS = 4;
const HEALTHY = [200, 200, 200, 200, 201, 200, 404, 200, 201];
const DATABASE_UNAVAILABLE = '{"detail":"The database is unavailable","code":"DATABASE_UNAVAILABLE"}';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgresServer({ max_wal_senders: "0" });
});
afterAll(() => server[Symbol.asyncDispose]());

/** Kills the server; disposing the result restarts it. */
async function kill(): Promise<AsyncDisposable> {
  await server.kill();
  return { [Symbol.asyncDispose]: () => server.start() };
}

/** The result of the work, which must be available in time. */
async function within<Result>(maximumMs: number, work: Promise<Result>): Promise<Result> {
  const startedAt = performance.now();
  const result = await work;
  expect(performance.now() - startedAt).toBeLessThan(maximumMs);
  return result;
}

inFullRun(test).each<[string, () => Promise<AsyncDisposable | Disposable>]>([
  ["is killed under load and restarted", kill],
  ["freezes under load and resumes", () => server.freeze()],
])("the service fails in time and recovers when PostgreSQL %s", async (_name, injectFault) => {
  await using service = startProcess({
    DATABASE_URL: await server.createDatabase(),
    DATABASE_POOL_SIZE: "2",
    AUTH_SECRET_KEY: SECRET_KEY,
    ...PATIENT_HASHING,
    RATE_LIMIT_ENABLED: "false",
  });
  const url = await service.ready();
  const call = (method: string, path: string, options: CallOptions = {}) =>
    callService(url + path, method, options);
  const { email, username, password } = newCredentials();
  await call("POST", "/auth/register", { body: { email, username, password } });
  const login = await call("POST", "/auth/login", { body: { email, password } });
  const { access_token: token } = login.expect<Token>(200);

  /** Concurrent requests to every route that needs the database, over its two connections. */
  const requestAll = () =>
    Promise.all([
      call("GET", "/todos"),
      call("GET", "/todos/1"),
      call("GET", "/auth/me", { token }),
      call("POST", "/auth/login", { body: { email, password } }),
      call("POST", "/todos", { body: { title: "created" } }),
      call("PATCH", "/todos/1", { body: { completed: true } }),
      call("DELETE", `/todos/${Number.MAX_SAFE_INTEGER}`),
      call("PATCH", "/auth/me", { token, body: { username } }),
      call("POST", "/auth/register", { body: newCredentials() }),
    ]);
  const acknowledged: number[] = [];
  const writeUntilFailure = async (): Promise<string> => {
    for (;;) {
      const { status, body, text } = await call("POST", "/todos", { body: { title: "written" } });
      if (status !== 201) return text;
      acknowledged.push((body as Todo).id);
    }
  };
  let isDown = true;
  const expectLive = async (): Promise<void> => {
    while (isDown) {
      const { text } = await within(LIVENESS_MS, call("GET", "/healthz"));
      expect(text).toBe('{"status":"ok"}');
      await Bun.sleep(10);
    }
  };

  const writers = Promise.all(Array.from({ length: WRITERS }, writeUntilFailure));
  while (acknowledged.length < 50) await Bun.sleep(10);
  {
    await using _fault = await injectFault();
    const live = expectLive();
    const [unready, responses, failures] = await Promise.all([
      within(UNREADY_MS, call("GET", "/readyz")),
      within(RESPONSE_MS, requestAll()),
      within(RESPONSE_MS, writers),
    ]);
    isDown = false;
    await live;
    expect([unready.status, unready.text]).toEqual([503, '{"status":"unavailable"}']);
    expect(responses.map(({ text }) => text)).toEqual(HEALTHY.map(() => DATABASE_UNAVAILABLE));
    expect(failures).toEqual(Array(WRITERS).fill(DATABASE_UNAVAILABLE));
  }

  const recover = async (): Promise<void> => {
    while (
      !Bun.deepEquals(
        (await requestAll()).map(({ status }) => status),
        HEALTHY,
      )
    )
      await Bun.sleep(10);
  };
  await within(RECOVERY_MS, recover());
  expect((await call("GET", "/readyz")).status).toBe(200);
  const ids = new Set<number>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: TodoPage = (await call("GET", `/todos?limit=100&cursor=${cursor}`)).expect(200);
    for (const { id } of page.items) ids.add(id);
    cursor = page.next_cursor;
  }
  expect(acknowledged.filter((id) => !ids.has(id))).toEqual([]);
});
