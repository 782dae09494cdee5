/** The requests of each scenario and the status expected for each: 401 is expected for a wrong password. */
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";
import type { RunOptions } from "./run-options.ts";

/** Returns the next request of a run; the n-th request is the same for the same seed. */
export type NextRequest = () => LoadRequest;

type CreateRequest = (random: () => number) => LoadRequest;

export const TODOS_PATH = "/todos?limit=20";
/** All users have the same password: it protects nothing. */
const PASSWORD = "a load test's password";
const WRONG_PASSWORD = "not the password of anyone";

/** The users of a load test are derived from their index, from 0: none of them is kept in memory. */
export const userOf = (index: number) => ({
  email: `loadtest-${index + 1}@example.org`,
  username: `loadtest-${index + 1}`,
  password: PASSWORD,
});

/** An address that no user has. */
const unknownEmailOf = (index: number): string => `loadtest-unknown-${index + 1}@example.org`;

/** @param tokens of users that have logged in; `login` and `register` need none */
export function createRequests(options: RunOptions, tokens: readonly string[]): NextRequest {
  const random = createRandom(options.seed, "requests");
  const create = scenariosOf(options, tokens)[options.scenario];
  return () => create(random);
}

function scenariosOf(
  options: RunOptions,
  tokens: readonly string[],
): Readonly<Record<RunOptions["scenario"], CreateRequest>> {
  const { users, unknownPercent, wrongPercent } = options;
  const login: CreateRequest = (random) => {
    const index = Math.floor(random() * users);
    const percent = random() * 100;
    const { email, password } = userOf(index);
    if (percent < unknownPercent) return loginRequest({ email: unknownEmailOf(index), password }, 401);
    if (percent >= unknownPercent + wrongPercent) return loginRequest({ email, password }, 200);
    return loginRequest({ email, password: WRONG_PASSWORD }, 401);
  };
  const me: CreateRequest = (random) => ({
    ...GET,
    operation: "me",
    path: "/auth/me",
    headers: { authorization: `Bearer ${tokens[Math.floor(random() * tokens.length)] ?? ""}` },
  });
  const todos: CreateRequest = () => ({ ...GET, operation: "todos", path: TODOS_PATH });
  const createTodo: CreateRequest = (random) =>
    post("create-todo", "/todos", { title: `Load test ${Math.floor(random() * 1e6)}` }, 201);
  return {
    login,
    read: (random) => (random() < 0.5 ? me(random) : todos(random)),
    mixed: (random) => {
      const percent = random() * 100;
      if (percent < 10) return login(random);
      if (percent < 50) return me(random);
      return percent < 90 ? todos(random) : createTodo(random);
    },
    register: registrations(options.seed),
  };
}

/** New users only: the seed, a counter and the current time make their names unique across runs. */
function registrations(seed: number): CreateRequest {
  const startedAt = Date.now().toString(36);
  let count = 0;
  return () => {
    const username = `load-${startedAt}-${seed}-${++count}`;
    const user = { email: `${username}@example.org`, username, password: PASSWORD };
    return post("register", "/auth/register", user, 201);
  };
}

const GET = { method: "GET", headers: {}, body: null, expected: 200 } as const;

function post(operation: string, path: string, value: unknown, expected: number): LoadRequest {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  return { operation, method: "POST", path, headers, body, expected };
}

const loginRequest = (body: { email: string; password: string }, expected: number): LoadRequest =>
  post("login", "/auth/login", body, expected);
