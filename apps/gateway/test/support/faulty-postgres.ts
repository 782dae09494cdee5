/**
 * The service as it is deployed, on a PostgreSQL that a test makes sick: every route that needs the database, clients that
 * write meanwhile, the probes. It is never restarted, and what it acknowledged must be there when it is well again.
 */
import { expect } from "bun:test";
import type { Todo, TodoPage, Token } from "@latchkey/contracts";
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { startProcess } from "@latchkey/testing/service-process";
import { type CallOptions, callService } from "./client.ts";

/** What clients and balancers may rely on. */
const ANSWER_MS = 5_000;
const UNREADY_MS = 3_000;
const RECOVERY_MS = 10_000;
/** Far less than a probe waits before it has a process restarted, and enough for a busy machine. */
const LIVENESS_MS = 500;
/** Between two questions of a client that asks again and again. */
const PAUSE_MS = 10;

const PERSON = { email: "ada@example.org", username: "ada", password: "correct horse battery" };

/** Clients that write at once, and what they have written when they are in full swing. */
const WRITERS = 4;
const WRITES = 50;

/** What every route answers that needs the database, in the order of `Patient.ask`. */
export const WELL = { reads: [200, 200, 200, 200], writes: [201, 200, 404, 200, 201] };
export const UNREADABLE = [503, 503, 503, 503];
export const UNWRITABLE = [503, 503, 503, 503, 503];
export const REFUSED = Array.from({ length: WRITERS }, () => 503);

/** A status; or the whole answer, if it was a failure out of its envelope or came too late. */
export type Outcome = number | string;

export interface Writers {
  /** Lets each client finish what it has under way. */
  stop(): void;
  /** What ended each client: the first answer that was not 201, or 201 for one that was stopped. */
  readonly ended: Promise<readonly Outcome[]>;
}

export interface Patient extends AsyncDisposable {
  readonly databaseUrl: string;
  /** Every route that needs the database, all at once over two connections to it. */
  ask(): Promise<{ readonly reads: readonly Outcome[]; readonly writes: readonly Outcome[] }>;
  /** What `/readyz` says, within three seconds. */
  readiness(): Promise<string>;
  /** Asks `/healthz` again and again until the work is done. */
  whileAlive<Result>(work: Promise<Result>): Promise<Result>;
  /** Clients that create todos until they are refused or stopped; resolves when they are in full swing. */
  write(): Promise<Writers>;
  /** Within ten seconds it is ready and every route succeeds; then every acknowledged todo must be there. */
  recover(): Promise<void>;
}

export async function openPatient(server: PostgresServer): Promise<Patient> {
  const databaseUrl = await server.createDatabase();
  const service = startProcess({
    DATABASE_URL: databaseUrl,
    DATABASE_POOL_SIZE: "2",
    AUTH_SECRET_KEY: SECRET_KEY,
    // Registering derives before it writes, which must not wait for whatever else this machine does.
    HASH_NICE: "0",
    RATE_LIMIT_ENABLED: "false",
  });
  const url = await service.ready();
  const call = (method: string, path: string, options: CallOptions = {}) =>
    callService(url + path, method, options);
  await call("POST", "/auth/register", { body: PERSON });
  const { access_token: token } = (await call("POST", "/auth/login", { body: PERSON })).expect<Token>(200);
  const { id } = (await call("POST", "/todos", { body: { title: "first" } })).expect<Todo>(201);
  const acknowledged = new Set([id]);
  let newcomers = 0;

  const outcome = async (method: string, path: string, options: CallOptions = {}): Promise<Outcome> => {
    const sentAt = performance.now();
    const { status, text, body } = await call(method, path, options);
    const tookMs = performance.now() - sentAt;
    if (status === 201 && path === "/todos") acknowledged.add((body as Todo).id);
    const isEnveloped = status < 500 || text === '{"detail":"The database is unavailable"}';
    if (isEnveloped && tookMs < ANSWER_MS) return status;
    return `${method} ${path}: ${status} ${text} after ${tookMs} ms`;
  };

  const ask = async () => {
    const username = `newcomer${++newcomers}`;
    const reads = [
      outcome("GET", "/todos"),
      outcome("GET", `/todos/${id}`),
      outcome("GET", "/auth/me", { token }),
      outcome("POST", "/auth/login", { body: PERSON }),
    ];
    const writes = [
      outcome("POST", "/todos", { body: { title: "asked" } }),
      outcome("PATCH", `/todos/${id}`, { body: { completed: true } }),
      outcome("DELETE", `/todos/${Number.MAX_SAFE_INTEGER}`),
      outcome("PATCH", "/auth/me", { token, body: { username: PERSON.username } }),
      outcome("POST", "/auth/register", { body: { ...PERSON, username, email: `${username}@example.org` } }),
    ];
    return { reads: await Promise.all(reads), writes: await Promise.all(writes) };
  };

  const isWell = async (): Promise<boolean> =>
    (await call("GET", "/readyz")).status === 200 && Bun.deepEquals(await ask(), WELL);

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
    ask,
    async readiness() {
      const sentAt = performance.now();
      const { status, text } = await call("GET", "/readyz");
      expect(performance.now() - sentAt).toBeLessThan(UNREADY_MS);
      return `${status} ${text}`;
    },
    async whileAlive(work) {
      let isDone = false;
      const probe = async (): Promise<string[]> => {
        const faults: string[] = [];
        while (!isDone) {
          const sentAt = performance.now();
          const { status, text } = await call("GET", "/healthz");
          const tookMs = performance.now() - sentAt;
          const isAlive = status === 200 && text === '{"status":"ok"}' && tookMs < LIVENESS_MS;
          if (!isAlive) faults.push(`${status} ${text} after ${tookMs} ms`);
          await Bun.sleep(PAUSE_MS);
        }
        return faults;
      };
      const finish = () => {
        isDone = true;
      };
      const [result, faults] = await Promise.all([work.finally(finish), probe()]);
      expect(faults).toEqual([]);
      return result;
    },
    async write() {
      let isStopped = false;
      const enough = acknowledged.size + WRITES;
      const inFullSwing = Promise.withResolvers<void>();
      const writeOn = async (): Promise<Outcome> => {
        while (!isStopped) {
          const answer = await outcome("POST", "/todos", { body: { title: "written" } });
          if (answer !== 201) return answer;
          if (acknowledged.size >= enough) inFullSwing.resolve();
        }
        return 201;
      };
      const ended = Promise.all(Array.from({ length: WRITERS }, writeOn));
      await Promise.race([inFullSwing.promise, ended]);
      return {
        ended,
        stop: () => {
          isStopped = true;
        },
      };
    },
    async recover() {
      const startedAt = performance.now();
      while (!(await isWell())) {
        if (performance.now() - startedAt > RECOVERY_MS) throw new Error("It did not recover in time.");
        await Bun.sleep(PAUSE_MS);
      }
      const ids = await listIds();
      expect([...acknowledged].filter((one) => !ids.has(one))).toEqual([]);
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
