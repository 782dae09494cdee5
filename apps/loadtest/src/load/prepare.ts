/** Prepares a run: checks the service, creates users, logs in and creates todos. */
import { CliError, describeError, EXIT, unavailable } from "@latchkey/cli";
import { Live, TodoPage, Token } from "@latchkey/contracts";
import { Check } from "typebox/value";
import type { RunOptions } from "./run-options.ts";
import { createRequests, type NextRequest, TODOS_PATH, userOf } from "./scenarios.ts";
import { seedDatabase, type UsersOptions } from "./seed-database.ts";

export interface PrepareOptions {
  readonly asked: RunOptions;
  /** Creates the users in this database, which must be that of the service. @default through the public API */
  readonly seedDatabaseUrl?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each user exists. */
  readonly onUser?: ((done: number, total: number) => void) | undefined;
}

/** Users whose tokens the reading scenarios send. */
const MAX_TOKENS = 32;
/** Concurrent registrations: enough to use all hash workers, not enough to fill the hash queue. */
const CONCURRENCY = 8;
const PAGE_SIZE = 20;

/** @throws {CliError} 64, 69, or 130 if the signal came first */
export async function prepareRequests(options: PrepareOptions): Promise<NextRequest> {
  const { asked, seedDatabaseUrl, signal = new AbortController().signal, onUser = () => {} } = options;
  const { url, users: count, scenario } = asked;
  await expectService(url);
  if (seedDatabaseUrl === undefined) await registerUsers({ url, count, signal, onUser });
  else await seedDatabase({ url: seedDatabaseUrl, count, signal, onUser });
  // At least one login: it shows that the users exist and that logins are not rate limited.
  const isReading = scenario === "read" || scenario === "mixed";
  const tokens = await logIn({ url, count: isReading ? Math.min(count, MAX_TOKENS) : 1, signal });
  if (isReading && !signal.aborted) await createTodos(url, signal);
  if (signal.aborted) throw new CliError("Interrupted before the measurement began.", EXIT.interrupted);
  return createRequests(asked, tokens);
}

async function expectService(url: string): Promise<void> {
  const response = await request(`${url}/healthz`);
  const body: unknown = await response.json().catch(() => null);
  if (response.ok && Check(Live, body)) return;
  throw unavailable(
    `${url} is not a Latchkey service: unexpected response to GET /healthz (${response.status}).`,
  );
}

/** Registers the users that do not exist yet. */
async function registerUsers({ url, count, signal, onUser }: UsersOptions): Promise<void> {
  let next = 0;
  let done = 0;
  const registerRest = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      // 409: registered by an earlier run.
      await post({ url: `${url}/auth/register`, body: userOf(next++), accepted: [201, 409], signal });
      onUser(++done, count);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, registerRest));
}

/** @returns tokens of the first users */
async function logIn({ url, count, signal }: Omit<UsersOptions, "onUser">): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index++) {
    const { email, password } = userOf(index);
    const body = { email, password };
    const response = await post({ url: `${url}/auth/login`, body, accepted: [200], signal });
    if (response === null) break;
    if (response.headers.has("ratelimit-limit")) throw rateLimited(`${url}/auth/login`);
    const token: unknown = await response.json();
    if (!Check(Token, token)) throw unavailable(`${url}/auth/login returned no token.`);
    tokens.push(token.access_token);
  }
  return tokens;
}

/** Creates todos until a page is full. */
async function createTodos(url: string, signal: AbortSignal): Promise<void> {
  const page: unknown = await (await fetch(url + TODOS_PATH, { signal })).json();
  for (let index = Check(TodoPage, page) ? page.items.length : 0; index < PAGE_SIZE; index++) {
    await post({ url: `${url}/todos`, body: { title: `Load test ${index + 1}` }, accepted: [201], signal });
  }
}

const rateLimited = (url: string): CliError =>
  unavailable(`${url} is rate limited. Start the service with RATE_LIMIT_ENABLED=false.`);

const request = (url: string, init?: RequestInit): Promise<Response> =>
  fetch(url, init).catch((error: unknown) => {
    throw unavailable(`${url} is unreachable: ${describeError(error)}`);
  });

interface PostOptions {
  readonly url: string;
  readonly body: object;
  readonly accepted: readonly number[];
  readonly signal: AbortSignal;
}

/** Repeats the request while the service responds with 503 and `Retry-After`. @returns null if the signal came first */
async function post({ url, body, accepted, signal }: PostOptions): Promise<Response | null> {
  const headers = { "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(body), signal };
  while (!signal.aborted) {
    const response = await request(url, init).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (response === null || accepted.includes(response.status)) return response;
    if (response.status === 429) throw rateLimited(url);
    const retryAfter = Number(response.headers.get("retry-after"));
    if (response.status !== 503 || !(retryAfter > 0)) {
      throw unavailable(`${url} returned ${response.status}: ${await response.text()}`);
    }
    await Bun.sleep(retryAfter * 1000);
  }
  return null;
}
