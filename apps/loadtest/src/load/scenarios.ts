/** The requests of each scenario and the status expected for each: 401 is expected for a wrong password. */
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";
import type { RunOptions } from "./run-options.ts";

/** Returns the next request of a run; the n-th request is the same for the same seed. */
export type NextRequest = () => LoadRequest;

export const TODOS_PATH = "/todos?limit=20";
/** All users have the same password: it protects nothing. */
const PASSWORD = "a load test's password";
const WRONG_PASSWORD = "not the password of anyone";

/** The users of a load test are derived from their index, from 0: none of them is kept in memory. */
export const userOf = (index: number) => ({
  email: `loadtest-${index + 1}@loadtest.invalid`,
  username: `loadtest-${index + 1}`,
  password: PASSWORD,
});

/** @param tokens of users that have logged in; `login` and `register` need none */
export function createRequests(options: RunOptions, tokens: readonly string[]): NextRequest {
  const { users, unknownPercent, wrongPercent, seed } = options;
  const random = createRandom(seed, "requests");
  const login = (): LoadRequest => {
    const index = Math.floor(random() * users);
    const percent = random() * 100;
    const { email, password } = userOf(index);
    const unknown = `loadtest-unknown-${index + 1}@loadtest.invalid`;
    if (percent < unknownPercent) return post("login", "/auth/login", { email: unknown, password }, 401);
    if (percent >= unknownPercent + wrongPercent)
      return post("login", "/auth/login", { email, password }, 200);
    return post("login", "/auth/login", { email, password: WRONG_PASSWORD }, 401);
  };
  const me = (): LoadRequest => ({
    ...GET,
    operation: "me",
    path: "/auth/me",
    headers: { authorization: `Bearer ${tokens[Math.floor(random() * tokens.length)] ?? ""}` },
  });
  const todos = (): LoadRequest => ({ ...GET, operation: "todos", path: TODOS_PATH });
  const createTodo = () =>
    post("create-todo", "/todos", { title: `Load test ${Math.floor(random() * 1e6)}` }, 201);
  const scenarios: Readonly<Record<RunOptions["scenario"], NextRequest>> = {
    login,
    read: () => (random() < 0.5 ? me() : todos()),
    mixed: () => {
      const percent = random() * 100;
      if (percent < 10) return login();
      if (percent < 50) return me();
      return percent < 90 ? todos() : createTodo();
    },
    register: registrations(seed),
  };
  return scenarios[options.scenario];
}

/** New users only: the seed, a counter and the current time make their names unique across runs. */
function registrations(seed: number): NextRequest {
  const startedAt = Date.now().toString(36);
  let count = 0;
  return () => {
    const username = `load-${startedAt}-${seed}-${++count}`;
    const user = { email: `${username}@loadtest.invalid`, username, password: PASSWORD };
    return post("register", "/auth/register", user, 201);
  };
}

const GET = { method: "GET", headers: {}, body: null, expected: 200 } as const;

function post(operation: string, path: string, value: object, expected: number): LoadRequest {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  return { operation, method: "POST", path, headers, body, expected };
}
