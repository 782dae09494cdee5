/** What each scenario sends and which status it asks for: a wrong password is answered well by 401. */

import type { Asked } from "../measure/results.ts";
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";
import { accountOf, strangerOf } from "./users.ts";

/** Draws the next request of a run; the n-th draw is the same for the same seed. */
export type NextRequest = () => LoadRequest;

type Draw = (random: () => number) => LoadRequest;

export const TODOS_PATH = "/todos?limit=20";
const WRONG_PASSWORD = "not the password of anyone";

/** @param tokens of accounts that have logged in; `login` and `register` need none */
export function createRequests(asked: Asked, tokens: readonly string[]): NextRequest {
  const random = createRandom(asked.seed, "requests");
  const draw = drawsOf(asked, tokens)[asked.scenario];
  return () => draw(random);
}

function drawsOf(asked: Asked, tokens: readonly string[]): Readonly<Record<Asked["scenario"], Draw>> {
  const login: Draw = (random) => {
    const index = Math.floor(random() * asked.users);
    const percent = random() * 100;
    const { email, password } = accountOf(index);
    if (percent < asked.unknownPercent) return loginRequest({ email: strangerOf(index), password }, 401);
    if (percent < asked.unknownPercent + asked.wrongPercent) {
      return loginRequest({ email, password: WRONG_PASSWORD }, 401);
    }
    return loginRequest({ email, password }, 200);
  };
  const me: Draw = (random) => ({
    ...GET,
    operation: "me",
    path: "/auth/me",
    headers: { authorization: `Bearer ${tokens[Math.floor(random() * tokens.length)] ?? ""}` },
  });
  const todos: Draw = () => ({ ...GET, operation: "todos", path: TODOS_PATH });
  const createTodo: Draw = (random) =>
    post("create-todo", "/todos", { title: `Load test ${Math.floor(random() * 1e6)}` }, 201);
  const register = registrations(asked.seed);
  return {
    login,
    read: (random) => (random() < 0.5 ? me(random) : todos(random)),
    mixed: (random) => {
      const percent = random() * 100;
      if (percent < 10) return login(random);
      if (percent < 50) return me(random);
      return percent < 90 ? todos(random) : createTodo(random);
    },
    register,
  };
}

/** New accounts only: named by the seed, a counter and the moment, which no other run has. */
function registrations(seed: number): Draw {
  const moment = Date.now().toString(36);
  let count = 0;
  return () => {
    count += 1;
    const username = `load-${moment}-${seed}-${count}`;
    const { password } = accountOf(0);
    return post("register", "/auth/register", { email: `${username}@example.org`, username, password }, 201);
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
