/** The requests of each scenario, with the status that each response must have: 401 for an unknown e-mail or a wrong password. */
import type { LoadRequest } from "./http-client.ts";
import { createRandom } from "./random.ts";

/** Descriptions of the operations for the help. The keys are the names of the operations in the report. */
export const OPERATIONS = {
  login: "POST /auth/login, with many users",
  me: "GET /auth/me, with their tokens",
  todos: "GET /todos?limit=20",
  "create-todo": "POST /todos",
  register: "POST /auth/register, with new users; the command that deletes them is printed",
} as const;

type Operation = keyof typeof OPERATIONS;

/** The percentage of each operation in the requests of a scenario. The operations determine what `withUsers` prepares. */
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
  /** The gaps between intended starts. `poisson`: exponentially distributed, as with independent users. `constant`: all equal. */
  readonly arrivals: "poisson" | "constant";
}

/** The options of a run from the command line. Reports contain these options as `asked`. */
export interface RunOptions {
  readonly url: string;
  /** `open`: requests are sent at a rate, regardless of the responses. `closed`: each client waits for its response. */
  readonly load: OpenLoad | { readonly kind: "closed"; readonly concurrency: number };
  readonly durationSeconds: number;
  readonly scenario: ScenarioName;
  readonly users: number;
  /** The percentage of logins with an unknown e-mail address. */
  readonly unknownPercent: number;
  /** The percentage of logins with a wrong password. */
  readonly wrongPercent: number;
  /** The seed of the arrivals and of every random choice. Equal seeds choose equal requests at equal times. */
  readonly seed: number;
}

/** The cast is safe because every key of `SCENARIOS` is a `ScenarioName`. */
export const scenarioNames = (): readonly ScenarioName[] => Object.keys(SCENARIOS) as ScenarioName[];

export const operationsOf = (scenario: ScenarioName): readonly string[] => Object.keys(SCENARIOS[scenario]);

/** Returns the next request of a run. The n-th request is the same for the same seed and users. */
export type NextRequest = () => LoadRequest;

export const TODOS_PATH = "/todos?limit=20";
const WRONG_PASSWORD = "not the password of anyone";

export type TestUsers = ReturnType<typeof createTestUsers>;

/** Creates the e-mail domain and the password of one run's users. `userOf` derives a user from an index, which starts at 0. */
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

/** @param tokens access tokens of users; only the operation `me` sends tokens */
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
