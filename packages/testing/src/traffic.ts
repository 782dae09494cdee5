/**
 * Traffic of users that register, log in, read and write todos, and delete themselves, in closed loops with pauses. Each response
 * must have its expected status, and the stored todos must be the acknowledged ones.
 */
import { type RequestOptions, request } from "./service-process.ts";

interface TrafficOptions {
  readonly url: string;
  /** Users at the same time. */
  readonly users: number;
  /** Before each request, on average. */
  readonly pauseMs: number;
  /** Each todo takes about seven requests. A user takes five more. */
  readonly todosPerUser: number;
}

const TIMEOUT_MS = 30_000;
const PASSWORD = "correct horse battery";

const createCounts = () => ({
  sent: 0,
  slowestMs: 0,
  /** Number of requests by what was received instead of the expected response. */
  lost: new Map<string, number>(),
});

export function createTraffic({ url, users, pauseMs, todosPerUser }: TrafficOptions) {
  let counts = createCounts();
  let created = 0;
  /** The acknowledged title of each todo, null if it was deleted. Todos whose last write failed are not compared. */
  const acknowledged = new Map<number, string | null>();

  function lose(problem: string, step = counts): null {
    step.lost.set(problem, (step.lost.get(problem) ?? 0) + 1);
    return null;
  }

  /** Returns the body; null if the response is not the expected one. */
  async function send<Body>(method: string, path: string, expected: number, options?: RequestOptions) {
    await Bun.sleep(2 * pauseMs * Math.random());
    const step = counts;
    step.sent += 1;
    const lost = `${method} ${path.replace(/[?\d].*/, "")}`;
    const sentAt = performance.now();
    try {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const response = await request(url + path, { ...options, method, signal });
      const text = await response.text();
      step.slowestMs = Math.max(step.slowestMs, performance.now() - sentAt);
      if (response.status !== expected) return lose(`${lost}: ${response.status} ${text}`, step);
      // The cast is safe because the contracts of the routes define the members that the callers read.
      return JSON.parse(text || "{}") as Body;
    } catch (error) {
      return lose(`${lost}: ${error}`, step);
    }
  }

  /** Creates a todo. Of three todos, two are also updated, and one of these two is then deleted. */
  async function writeTodo(index: number): Promise<void> {
    const title = `Todo number ${index}`;
    const todo = await send<{ id: number }>("POST", "/todos", 201, { body: { title } });
    if (todo === null) return;
    const { id } = todo;
    acknowledged.set(id, title);
    if (index % 3 === 0) return;
    acknowledged.delete(id);
    const body = { title: `${title}, changed` };
    if ((await send("PATCH", `/todos/${id}`, 200, { body })) === null) return;
    acknowledged.set(id, body.title);
    if (index % 3 === 1) return;
    acknowledged.delete(id);
    if ((await send("DELETE", `/todos/${id}`, 204)) !== null) acknowledged.set(id, null);
  }

  async function runUser(signal: AbortSignal): Promise<void> {
    const username = `user-${++created}`;
    const user = { email: `${username}@example.org`, username, password: PASSWORD };
    if ((await send("POST", "/auth/register", 201, { body: user })) === null) return;
    await send("POST", "/auth/login", 401, { body: { ...user, password: "wrong" } });
    const login = await send<{ access_token: string }>("POST", "/auth/login", 200, { body: user });
    if (login === null) return;
    const token = login.access_token;
    for (let todo = 0; todo < todosPerUser && !signal.aborted; todo++) {
      await send("GET", "/auth/me", 200, { token });
      await writeTodo(++created);
      const page = await send<{ next_cursor: string | null }>("GET", "/todos?limit=20", 200);
      if (page?.next_cursor) await send("GET", `/todos?limit=50&cursor=${page.next_cursor}`, 200);
      await send("GET", "/todos/999999999", 404);
      await send("GET", "/todos?limit=0", 422);
    }
    await send("PATCH", "/auth/me", 200, { token, body: { username: `${username}x` } });
    await send("DELETE", "/auth/me", 204, { token });
  }

  async function compareTodo(id: number, title: string | null): Promise<void> {
    const stored = await send<{ title?: string }>("GET", `/todos/${id}`, title === null ? 404 : 200);
    if (stored !== null && title !== null && stored.title !== title)
      lose("GET /todos/: a title that was not acknowledged last");
  }

  const inParallel = (run: () => Promise<void>) => Promise.all(Array.from({ length: users }, run));

  return {
    /** Starts new counts and returns them. Requests in flight still belong to the earlier counts. */
    beginStep() {
      counts = createCounts();
      return counts;
    },
    /** Runs until the signal, and compares the todos that were written until then. */
    async run(signal: AbortSignal): Promise<void> {
      await inParallel(async () => {
        while (!signal.aborted) await runUser(signal);
      });
      const todos = acknowledged.entries();
      await inParallel(async () => {
        for (const [id, title] of todos) await compareTodo(id, title);
      });
      acknowledged.clear();
    },
  };
}
