/** The requests of each scenario and the status expected for each: 401 is expected for a wrong password. */
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";

/** The requests by their names in the report, for the help. */
export const OPERATIONS = {
  login: "POST /auth/login, with many users",
  me: "GET /auth/me, with their tokens",
  todos: "GET /todos?limit=20",
  "create-todo": "POST /todos",
  register: "POST /auth/register, with new users; the command that deletes them is printed",
} as const;

type Operation = keyof typeof OPERATIONS;

/** The operations of each scenario, with the percentages of the requests; what is prepared for a run depends on them. */
export const SCENARIOS = {
  login: { login: 100 },
  read: { me: 50, todos: 50 },
  mixed: { login: 10, me: 40, todos: 40, "create-todo": 10 },
  register: { register: 100 },
} satisfies Readonly<Record<string, Partial<Record<Operation, number>>>>;

export type ScenarioName = keyof typeof SCENARIOS;

export interface OpenLoad {
  readonly kind: "open";
  /** Above 0. */
  readonly ratePerSecond: number;
  /** `poisson`: independent users, exponential gaps; `constant`: equal gaps. */
  readonly arrivals: "poisson" | "constant";
}

/** The options of a run, as the command line specifies them. Reports contain them as `asked`. */
export interface RunOptions {
  readonly url: string;
  /** Open: requests at a rate, regardless of the responses. Closed: clients that each wait for their response. */
  readonly load: OpenLoad | { readonly kind: "closed"; readonly concurrency: number };
  readonly durationSeconds: number;
  readonly scenario: ScenarioName;
  readonly users: number;
  /** Percentages of the logins. */
  readonly unknownPercent: number;
  readonly wrongPercent: number;
  /** Of the arrivals and of every random choice: equal seeds send equal requests at equal times. */
  readonly seed: number;
}

/** The cast is safe because the object has no other members. */
export const scenarioNames = (): readonly ScenarioName[] => Object.keys(SCENARIOS) as ScenarioName[];

export const operationsOf = (scenario: ScenarioName): readonly string[] => Object.keys(SCENARIOS[scenario]);

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

/** @param tokens of users that have logged in; only `me` needs them */
export function createRequests(
  { scenario, users, unknownPercent, wrongPercent, seed }: RunOptions,
  { domain, userOf }: TestUsers,
  tokens: readonly string[],
): NextRequest {
  const random = createRandom(seed, "requests");
  let registered = users;
  const operations: Readonly<Record<Operation, () => Omit<LoadRequest, "operation">>> = {
    login: () => {
      const index = Math.floor(random() * users);
      const percent = random() * 100;
      const { email, password } = userOf(index);
      const unknown = `unknown-${index + 1}@${domain}`;
      if (percent < unknownPercent) return post("/auth/login", { email: unknown, password }, 401);
      if (percent >= unknownPercent + wrongPercent) return post("/auth/login", { email, password }, 200);
      return post("/auth/login", { email, password: WRONG_PASSWORD }, 401);
    },
    me: () => {
      const token = tokens[Math.floor(random() * tokens.length)] ?? "";
      return { ...GET, path: "/auth/me", headers: { authorization: `Bearer ${token}` } };
    },
    todos: () => ({ ...GET, path: TODOS_PATH }),
    "create-todo": () => post("/todos", { title: `Load test ${Math.floor(random() * 1e6)}` }, 201),
    register: () => post("/auth/register", userOf(registered++), 201),
  };
  const entries = Object.entries(operations);
  const percentages: Readonly<Record<string, number>> = SCENARIOS[scenario];
  return () => {
    let rest = random() * 100;
    for (const [operation, next] of entries) {
      rest -= percentages[operation] ?? 0;
      if (rest < 0) return { ...next(), operation };
    }
    throw new Error(`The percentages of the scenario ${scenario} are less than 100`);
  };
}

const GET = { method: "GET", headers: {}, body: null, expected: 200 } as const;

function post(path: string, value: object, expected: number) {
  const body = JSON.stringify(value);
  const headers = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  return { method: "POST", path, headers, body, expected } as const;
}
