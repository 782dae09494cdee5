/** A mixed load in closed loops with pauses, far below the capacity of the machine. */
import { type RequestOptions, request } from "@latchkey/testing/service-process";
import type { AcknowledgedTodos } from "./acknowledged-todos.ts";

interface ClientsOptions {
  readonly url: string;
  readonly acknowledged: AcknowledgedTodos;
  /** Ends every loop. */
  readonly signal: AbortSignal;
}

type Send = (
  method: string,
  path: string,
  options?: RequestOptions,
) => Promise<{ readonly status: number; readonly body: unknown } | null>;

const PAUSE_MS = 15;
/** Longer than any response of the service takes. */
const TIMEOUT_MS = 20_000;
const PASSWORD = "a password for the soak";
let created = 0;

/** Resolves with the results after the signal has ended all loops. */
export async function runClients({ url, acknowledged, signal }: ClientsOptions) {
  /** Number of responses by status. */
  const statuses = new Map<number, number>();
  /** Requests that got no response, with the reason. */
  const failedRequests: string[] = [];
  const send: Send = async (method, path, options) => {
    try {
      const timeout = AbortSignal.timeout(TIMEOUT_MS);
      const response = await request(url + path, { ...options, method, signal: timeout });
      const text = await response.text();
      statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    } catch (error) {
      failedRequests.push(`${method} ${path}: ${String(error)}`);
      return null;
    }
  };
  const loop = async (step: () => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      await step();
      await Bun.sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  };
  const loops = (count: number, step: () => Promise<unknown>) =>
    Array.from({ length: count }, () => loop(step));
  await Promise.all([
    ...loops(4, () => writeTodo(send, acknowledged)),
    ...loops(4, () => readTodos(send)),
    ...loops(3, () => runUser(send, signal)),
    loop(() => send("GET", "/readyz")),
  ]);
  return { statuses, failedRequests };
}

/** Creates, deletes or updates a todo. */
async function writeTodo(send: Send, acknowledged: AcknowledgedTodos): Promise<void> {
  const choice = Math.random();
  const id = choice < 0.4 ? undefined : acknowledged.checkOut();
  if (id === undefined) {
    const title = `Todo number ${++created}`;
    const response = await send("POST", "/todos", { body: { title } });
    if (response?.status === 201)
      acknowledged.set((response.body as { id: number }).id, { title, completed: false });
    return;
  }
  if (choice < 0.65) {
    const response = await send("DELETE", `/todos/${id}`);
    if (response?.status === 204) acknowledged.delete(id);
    return;
  }
  const change = { title: `Changed ${++created}`, completed: choice < 0.8 };
  const response = await send("PATCH", `/todos/${id}`, { body: change });
  if (response?.status === 200) acknowledged.set(id, change);
}

/** Reads two pages and a todo that probably does not exist, and sends an invalid request. */
async function readTodos(send: Send): Promise<void> {
  const first = await send("GET", "/todos?limit=50");
  const cursor = (first?.body as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (typeof cursor === "string") await send("GET", `/todos?limit=50&cursor=${encodeURIComponent(cursor)}`);
  await send("GET", `/todos/${Math.ceil(Math.random() * 1_000_000)}`);
  await send("GET", "/todos?limit=0");
}

/** Registers, logs in with the correct and a wrong password, reads and updates the user, deletes it. */
async function runUser(send: Send, signal: AbortSignal): Promise<void> {
  const name = `soak${++created}`;
  const credentials = { email: `${name}@example.org`, password: PASSWORD };
  const registered = await send("POST", "/auth/register", { body: { ...credentials, username: name } });
  if (registered?.status !== 201) return;
  const login = await send("POST", "/auth/login", { body: credentials });
  await send("POST", "/auth/login", { body: { ...credentials, password: "wrong" } });
  const token = (login?.body as { access_token?: string } | undefined)?.access_token;
  if (token === undefined) return;
  for (let reads = 0; reads < 10 && !signal.aborted; reads++) {
    await send("GET", "/auth/me", { token });
    await Bun.sleep(PAUSE_MS);
  }
  await send("PATCH", "/auth/me", { token, body: { username: `${name}x` } });
  await send("DELETE", "/auth/me", { token });
}
