/**
 * The deployed service on a PostgreSQL server that a test makes fail: requests to every route that needs the database,
 * concurrent writers and probes. The service is never restarted and must not lose acknowledged writes.
 */
import { expect } from "bun:test";
import type { Todo, TodoPage, Token } from "@latchkey/contracts";
import { SECRET_KEY } from "@latchkey/testing/keys";
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { startProcess } from "@latchkey/testing/service-process";
import { type CallOptions, callService } from "./client.ts";

/** Maximum times that clients and load balancers rely on. */
const RESPONSE_MS = 5_000;
const UNREADY_MS = 3_000;
const RECOVERY_MS = 10_000;
/** Far less than the timeout of a liveness probe, and enough for a busy machine. */
const LIVENESS_MS = 500;
/** Between two requests in a loop. */
const PAUSE_MS = 10;

const USER = { email: "ada@example.org", username: "ada", password: "correct horse battery" };

const DATABASE_UNAVAILABLE = '{"detail":"The database is unavailable","code":"DATABASE_UNAVAILABLE"}';

/** Number of concurrent writers, and of writes before a test injects its fault. */
const WRITERS = 4;
const WRITES = 50;

/** The statuses of every route that needs the database, in the order of `FaultyPostgres.requestAll`. */
export const HEALTHY = { reads: [200, 200, 200, 200], writes: [201, 200, 404, 200, 201] };
export const READS_FAIL = [503, 503, 503, 503];
export const WRITES_FAIL = [503, 503, 503, 503, 503];
export const WRITERS_FAIL = Array.from({ length: WRITERS }, () => 503);

/** A status, or the complete response if it was late or not in the error envelope. */
type Outcome = number | string;

export type FaultyPostgres = Awaited<ReturnType<typeof openFaultyPostgres>>;

export async function openFaultyPostgres(server: PostgresServer) {
  const databaseUrl = await server.createDatabase();
  const service = startProcess({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: "2",
    AUTH_SECRET_KEY: SECRET_KEY,
    // Registration derives a hash, which must not wait for other load on this machine.
    HASH_NICE: "0",
    RATE_LIMIT_ENABLED: "false",
  });
  const url = await service.ready();
  const call = (method: string, path: string, options: CallOptions = {}) =>
    callService(url + path, method, options);
  await call("POST", "/auth/register", { body: USER });
  const { access_token: token } = (await call("POST", "/auth/login", { body: USER })).expect<Token>(200);
  const { id } = (await call("POST", "/todos", { body: { title: "first" } })).expect<Todo>(201);
  const acknowledged = new Set([id]);
  let registrations = 0;

  const request = async (method: string, path: string, options: CallOptions = {}): Promise<Outcome> => {
    const sentAt = performance.now();
    const { status, text, body } = await call(method, path, options);
    const tookMs = performance.now() - sentAt;
    if (status === 201 && path === "/todos") acknowledged.add((body as Todo).id);
    const isEnveloped = status < 500 || text === DATABASE_UNAVAILABLE;
    if (isEnveloped && tookMs < RESPONSE_MS) return status;
    return `${method} ${path}: ${status} ${text} after ${tookMs} ms`;
  };

  /** Sends a request to every route that needs the database, concurrently over two database connections. */
  const requestAll = async () => {
    const username = `newcomer${++registrations}`;
    const reads = [
      request("GET", "/todos"),
      request("GET", `/todos/${id}`),
      request("GET", "/auth/me", { token }),
      request("POST", "/auth/login", { body: USER }),
    ];
    const writes = [
      request("POST", "/todos", { body: { title: "created" } }),
      request("PATCH", `/todos/${id}`, { body: { completed: true } }),
      request("DELETE", `/todos/${Number.MAX_SAFE_INTEGER}`),
      request("PATCH", "/auth/me", { token, body: { username: USER.username } }),
      request("POST", "/auth/register", { body: { ...USER, username, email: `${username}@example.org` } }),
    ];
    return { reads: await Promise.all(reads), writes: await Promise.all(writes) };
  };

  const isHealthy = async (): Promise<boolean> =>
    (await call("GET", "/readyz")).status === 200 && Bun.deepEquals(await requestAll(), HEALTHY);

  const listIds = async (): Promise<Set<number>> => {
    const ids = new Set<number>();
    for (let cursor: string | null = ""; cursor !== null; ) {
      const path: string = `/todos?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
      const page: TodoPage = (await call("GET", path)).expect(200);
      for (const todo of page.items) ids.add(todo.id);
      cursor = page.next_cursor;
    }
    return ids;
  };

  return {
    databaseUrl,
    requestAll,
    /** Returns the response of `/readyz`, which must arrive within three seconds. */
    async readiness() {
      const sentAt = performance.now();
      const { status, text } = await call("GET", "/readyz");
      expect(performance.now() - sentAt).toBeLessThan(UNREADY_MS);
      return `${status} ${text}`;
    },
    /** Expects `/healthz` to succeed repeatedly until the work is done. */
    async expectLiveDuring<Result>(work: Promise<Result>): Promise<Result> {
      let isDone = false;
      const probe = async (): Promise<string[]> => {
        const errors: string[] = [];
        while (!isDone) {
          const sentAt = performance.now();
          const { status, text } = await call("GET", "/healthz");
          const tookMs = performance.now() - sentAt;
          const isAlive = status === 200 && text === '{"status":"ok"}' && tookMs < LIVENESS_MS;
          if (!isAlive) errors.push(`${status} ${text} after ${tookMs} ms`);
          await Bun.sleep(PAUSE_MS);
        }
        return errors;
      };
      const finish = () => {
        isDone = true;
      };
      const [result, errors] = await Promise.all([work.finally(finish), probe()]);
      expect(errors).toEqual([]);
      return result;
    },
    /** Starts writers that create todos until one fails or is stopped; resolves after the first writes. */
    async startWriters() {
      let isStopped = false;
      const target = acknowledged.size + WRITES;
      const started = Promise.withResolvers<void>();
      const write = async (): Promise<Outcome> => {
        while (!isStopped) {
          const status = await request("POST", "/todos", { body: { title: "written" } });
          if (status !== 201) return status;
          if (acknowledged.size >= target) started.resolve();
        }
        return 201;
      };
      const ended = Promise.all(Array.from({ length: WRITERS }, write));
      await Promise.race([started.promise, ended]);
      return {
        /** The first status of each writer that was not 201, or 201 if it was stopped. */
        ended,
        /** Stops each writer after its current request. */
        stop: () => {
          isStopped = true;
        },
      };
    },
    /** Expects that within ten seconds every route succeeds, and that no acknowledged todo is lost. */
    async expectRecovery() {
      const startedAt = performance.now();
      while (!(await isHealthy())) {
        if (performance.now() - startedAt > RECOVERY_MS)
          throw new Error("The service did not recover in time.");
        await Bun.sleep(PAUSE_MS);
      }
      const ids = await listIds();
      expect([...acknowledged].filter((one) => !ids.has(one))).toEqual([]);
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
