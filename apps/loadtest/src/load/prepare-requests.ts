/** Prepares a run: checks the service, creates users, logs in and creates todos. After the run, deletes the users. */
import { setTimeout } from "node:timers/promises";
import { CliError, describeError, EXIT, unavailable, writeError } from "@latchkey/cli";
import { Live, TodoPage, Token } from "@latchkey/contracts";
import { Check } from "typebox/value";
import {
  createRequests,
  createTestUsers,
  type NextRequest,
  operationsOf,
  type RunOptions,
  type TestUsers,
  TODOS_PATH,
} from "./scenarios.ts";

export interface PrepareOptions {
  readonly asked: RunOptions;
  /** Maximum duration of a request. */
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
  /** Called after each user is created. */
  readonly onUser?: ((done: number, total: number) => void) | undefined;
}

/** The maximum number of users whose tokens the requests send. */
const MAX_TOKENS = 32;
/** The number of concurrent requests: enough to use all hash workers, not enough to fill the hash queue. */
const CONCURRENCY = 8;
const PAGE_SIZE = 20;
/** Maximum duration of the deletion of all users. */
const DELETION_MS = 10_000;

/**
 * Runs `work` with the requests of a new run. Then deletes the run's users, even after an error or an abort. The scenario
 * `register` deletes no users. If users remain, prints the command that deletes the remaining users.
 * @throws {CliError} with exit code 69, or 130 if `signal` is aborted before `work`
 */
export async function withUsers<Result>(
  options: PrepareOptions,
  work: (next: NextRequest) => Promise<Result>,
): Promise<Result> {
  const { asked, signal, timeoutSeconds, onUser } = options;
  const operations = operationsOf(asked.scenario);
  const service = { url: asked.url, timeoutSeconds, signal };
  const users = createTestUsers();
  const created = new Set<number>();
  const tokens: string[] = [];
  let unanswered = 0;
  try {
    await expectService(service);
    await inParallel(Array(asked.users).keys(), async (index) => {
      if (signal.aborted) throw interrupted();
      unanswered += 1;
      const received = await post(service, "/auth/register", users.userOf(index));
      unanswered -= 1;
      if (received.response.status === 201) created.add(index);
      expectStatus(received, 201);
      onUser?.(created.size, asked.users);
    });
    // At least one user logs in: the measurement must not start if logins fail.
    const logins = operations.includes("me") ? Math.min(asked.users, MAX_TOKENS) : 1;
    await inParallel(Array(logins).keys(), async (index) => {
      tokens[index] = await logIn(service, users, index);
    });
    if (operations.includes("todos")) await createTodos(service);
    if (signal.aborted) throw interrupted();
    return await work(createRequests(asked, users, tokens));
  } finally {
    if (!operations.includes("register")) await deleteUsers(service, users, created, tokens);
    if (unanswered + created.size > 0)
      writeError(`Users remain. To delete them: bun run admin users delete --domain ${users.domain}\n`);
  }
}

/** Deletes users for at most `DELETION_MS`, and removes each deleted user from `created`. Users without a token log in first. */
async function deleteUsers(
  running: Service,
  users: TestUsers,
  created: Set<number>,
  tokens: readonly string[],
) {
  const service = { ...running, signal: AbortSignal.timeout(DELETION_MS) };
  const deleteUser = async (index: number): Promise<void> => {
    const token = tokens[index] ?? (await logIn(service, users, index));
    const init = { method: "DELETE", headers: { authorization: `Bearer ${token}` } };
    expectStatus(await request(service, "/auth/me", init), 204);
    created.delete(index);
  };
  await inParallel([...created].values(), (index) => deleteUser(index).catch(() => undefined));
}

/** Calls `work` for each index. After an error, waits for the pending calls, then throws the first error. */
async function inParallel(indices: IterableIterator<number>, work: (index: number) => Promise<void>) {
  const errors: unknown[] = [];
  const workRest = async (): Promise<void> => {
    for (const index of indices) {
      if (errors.length > 0) return;
      await work(index).catch((error: unknown) => void errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, workRest));
  if (errors.length > 0) throw errors[0];
}

type Service = Pick<PrepareOptions, "timeoutSeconds" | "signal"> & Pick<RunOptions, "url">;

async function expectService(service: Service): Promise<void> {
  const { response, json } = await request(service, "/healthz");
  if (response.ok && Check(Live, json)) return;
  throw unavailable(
    `${service.url} is not a Latchkey service: unexpected response to GET /healthz (${response.status}).`,
  );
}

/** @returns an access token of the user */
async function logIn(service: Service, users: TestUsers, index: number): Promise<string> {
  const { email, password } = users.userOf(index);
  const received = await post(service, "/auth/login", { email, password });
  expectStatus(received, 200);
  if (!Check(Token, received.json)) throw unavailable(`${received.url} returned no token.`);
  return received.json.access_token;
}

/** Creates todos until the first page of todos is full. */
async function createTodos(service: Service): Promise<void> {
  const { json } = await request(service, TODOS_PATH);
  for (let index = Check(TodoPage, json) ? json.items.length : 0; index < PAGE_SIZE; index++) {
    expectStatus(await post(service, "/todos", { title: `Load test ${index + 1}` }), 201);
  }
}

const interrupted = (): CliError =>
  new CliError("Interrupted before the measurement began.", EXIT.interrupted);

type Received = Awaited<ReturnType<typeof request>>;

function expectStatus({ url, response, text }: Received, status: number): void {
  if (response.status === 429 || (status === 201 && response.headers.has("ratelimit-limit")))
    throw unavailable(`${url} is rate limited. Start the service with RATE_LIMIT_ENABLED=false.`);
  if (response.status !== status) throw unavailable(`${url} returned ${response.status}: ${text}`);
}

async function request({ url: origin, timeoutSeconds, signal }: Service, path: string, init?: RequestInit) {
  const url = origin + path;
  const timeout = AbortSignal.timeout(1000 * timeoutSeconds);
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.any([signal, timeout]) });
    const text = await response.clone().text();
    const json: unknown = await response.json().catch(() => undefined);
    return { url, response, text, json };
  } catch (error) {
    if (signal.aborted) throw interrupted();
    const reason = timeout.aborted ? `no response within ${timeoutSeconds} s.` : describeError(error);
    throw unavailable(`${url} is unreachable: ${reason}`);
  }
}

/** Sends the request again while the service responds with 503 and `Retry-After`. */
async function post(service: Service, path: string, body: object): Promise<Received> {
  const headers = { "content-type": "application/json" };
  for (;;) {
    const received = await request(service, path, { method: "POST", headers, body: JSON.stringify(body) });
    const retryAfter = Number(received.response.headers.get("retry-after"));
    if (received.response.status !== 503 || !(retryAfter > 0)) return received;
    await setTimeout(1000 * retryAfter, undefined, { signal: service.signal }).catch(() => {
      throw interrupted();
    });
  }
}
