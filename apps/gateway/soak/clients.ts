/** A mixed load in closed loops with pauses, well below what the machine can do: what people do all day. */
import type { Ledger } from "./ledger.ts";

export interface ClientsOptions {
  readonly url: string;
  readonly ledger: Ledger;
  /** Ends every loop. */
  readonly signal: AbortSignal;
}

export interface Tally {
  /** Answers by status. */
  readonly statuses: Map<number, number>;
  /** Requests without an answer, by reason, with the time on the clock of `performance.now()`. */
  readonly broken: { readonly atMs: number; readonly reason: string }[];
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}
type Ask = (
  method: string,
  path: string,
  options?: { body?: object; token?: string },
) => Promise<Answer | null>;

const PAUSE_MS = 15;
/** Longer than the longest that the service may take. */
const PATIENCE_MS = 20_000;
const PASSWORD = "a password for the soak";
let made = 0;

/** Resolves when the signal has ended every loop, with what they saw. */
export async function runClients({ url, ledger, signal }: ClientsOptions): Promise<Tally> {
  const tally: Tally = { statuses: new Map(), broken: [] };
  const ask: Ask = async (method, path, { body, token } = {}) => {
    try {
      const response = await fetch(url + path, {
        method,
        headers: {
          ...(body && { "content-type": "application/json" }),
          ...(token !== undefined && { authorization: `Bearer ${token}` }),
        },
        ...(body && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const text = await response.text();
      tally.statuses.set(response.status, (tally.statuses.get(response.status) ?? 0) + 1);
      return { status: response.status, body: text === "" ? null : JSON.parse(text) };
    } catch (error) {
      tally.broken.push({ atMs: performance.now(), reason: `${method} ${path}: ${String(error)}` });
      return null;
    }
  };
  const loop = async (step: (ask: Ask) => Promise<unknown>): Promise<void> => {
    while (!signal.aborted) {
      await step(ask);
      await Bun.sleep(PAUSE_MS * (0.5 + Math.random()));
    }
  };
  const writers = Array.from({ length: 4 }, () => loop((asking) => writeTodo(asking, ledger)));
  const readers = Array.from({ length: 4 }, () => loop(readTodos));
  const people = Array.from({ length: 3 }, () => loop((asking) => livePerson(asking, signal)));
  await Promise.all([...writers, ...readers, ...people, loop((asking) => asking("GET", "/readyz"))]);
  return tally;
}

/** Creates, changes or removes, as often the one as the other once there is something. */
async function writeTodo(ask: Ask, ledger: Ledger): Promise<void> {
  const choice = Math.random();
  const id = choice < 0.4 ? undefined : ledger.borrow();
  if (id === undefined) {
    const title = `Todo number ${++made}`;
    const answer = await ask("POST", "/todos", { body: { title } });
    if (answer?.status === 201)
      ledger.acknowledge((answer.body as { id: number }).id, { title, completed: false });
    return;
  }
  if (choice < 0.65) {
    const answer = await ask("DELETE", `/todos/${id}`);
    if (answer?.status === 204) ledger.acknowledgeRemoval(id);
    else ledger.doubt(id);
    return;
  }
  const change = { title: `Changed ${++made}`, completed: choice < 0.8 };
  const answer = await ask("PATCH", `/todos/${id}`, { body: change });
  if (answer?.status === 200) ledger.acknowledge(id, change);
  else ledger.doubt(id);
}

/** Two pages, a todo that is hardly there, a bad request. */
async function readTodos(ask: Ask): Promise<void> {
  const first = await ask("GET", "/todos?limit=50");
  const cursor = (first?.body as { next_cursor?: string | null } | undefined)?.next_cursor;
  if (typeof cursor === "string") await ask("GET", `/todos?limit=50&cursor=${encodeURIComponent(cursor)}`);
  await ask("GET", `/todos/${Math.ceil(Math.random() * 1_000_000)}`);
  await ask("GET", "/todos?limit=0");
}

/** Comes, logs in well and badly, looks at the account, changes it, goes. */
async function livePerson(ask: Ask, signal: AbortSignal): Promise<void> {
  const name = `soak${++made}`;
  const credentials = { email: `${name}@example.org`, password: PASSWORD };
  const joined = await ask("POST", "/auth/register", { body: { ...credentials, username: name } });
  if (joined?.status !== 201) return;
  const login = await ask("POST", "/auth/login", { body: credentials });
  await ask("POST", "/auth/login", { body: { ...credentials, password: "wrong" } });
  const token = (login?.body as { access_token?: string } | undefined)?.access_token;
  if (token === undefined) return;
  for (let look = 0; look < 10 && !signal.aborted; look++) {
    await ask("GET", "/auth/me", { token });
    await Bun.sleep(PAUSE_MS);
  }
  await ask("PATCH", "/auth/me", { token, body: { username: `${name}x` } });
  await ask("DELETE", "/auth/me", { token });
}
