/** The requests of each scenario and the status expected for each: 401 is expected for a wrong password. */
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";
import type { RunOptions } from "./run-options.ts";

/** Returns the next request of a run; the n-th request is the same for the same seed and users. */
export type NextRequest = () => LoadRequest;

export const TODOS_PATH = "/todos?limit=20";
const WRONG_PASSWORD = "not the password of anyone";

export type TestUsers = ReturnType<typeof createTestUsers>;

/** The users of one run, with a domain and a password of their own. They are derived from their index, from 0. */
export function createTestUsers() {
  const run = crypto.randomUUID().slice(0, 8);
  const domain = `${run}.loadtest.invalid`;
  const password = crypto.randomUUID();
  return {
    domain,
    userOf: (index: number) => ({
      email: `user-${index + 1}@${domain}`,
      username: `loadtest-${run}-${index + 1}`,
      password,
    }),
  };
}

/** @param tokens of users that have logged in; `login` and `register` need none */
export function createRequests(
  { scenario, users, unknownPercent, wrongPercent, seed }: RunOptions,
  { domain, userOf }: TestUsers,
  tokens: readonly string[],
): NextRequest {
  const random = createRandom(seed, "requests");
  const login = (): LoadRequest => {
    const index = Math.floor(random() * users);
    const percent = random() * 100;
    const { email, password } = userOf(index);
    const unknown = `unknown-${index + 1}@${domain}`;
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
  let registered = users;
  const scenarios: Readonly<Record<RunOptions["scenario"], NextRequest>> = {
    login,
    read: () => (random() < 0.5 ? me() : todos()),
    mixed: () => {
      const percent = random() * 100;
      if (percent < 10) return login();
      if (percent < 50) return me();
      return percent < 90 ? todos() : createTodo();
    },
    register: () => post("register", "/auth/register", userOf(registered++), 201),
  };
  return scenarios[scenario];
}

const GET = { method: "GET", headers: {}, body: null, expected: 200 } as const;

function post(operation: string, path: string, value: object, expected: number): LoadRequest {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  return { operation, method: "POST", path, headers, body, expected };
}
