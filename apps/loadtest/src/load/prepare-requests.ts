/** Prepares a run: checks the service, creates users, logs in and creates todos. */
import { setTimeout } from "node:timers/promises";
import { CliError, describeError, EXIT, unavailable } from "@latchkey/cli";
import { Live, TodoPage, Token } from "@latchkey/contracts";
import { Check } from "typebox/value";
import type { RunOptions } from "./run-options.ts";
import { createRequests, type NextRequest, TODOS_PATH, userOf } from "./scenarios.ts";

export interface PrepareOptions {
  readonly asked: RunOptions;
  /** Maximum duration of a request. @default 10 */
  readonly timeoutSeconds?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called after each user exists. */
  readonly onUser?: ((done: number, total: number) => void) | undefined;
}

export const TIMEOUT_SECONDS = 10;
/** Users whose tokens the reading scenarios send. */
const MAX_TOKENS = 32;
/** Concurrent registrations: enough to use all hash workers, not enough to fill the hash queue. */
const CONCURRENCY = 8;
const PAGE_SIZE = 20;

/** @throws {CliError} 64, 69, or 130 if the signal came first */
export async function prepareRequests(options: PrepareOptions): Promise<NextRequest> {
  const { asked, signal = new AbortController().signal, onUser } = options;
  const { users: count, scenario } = asked;
  const service = { url: asked.url, timeoutSeconds: options.timeoutSeconds ?? TIMEOUT_SECONDS, signal };
  await expectService(service);
  let next = 0;
  let done = 0;
  const registerRest = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      // 409: registered by an earlier run.
      await post(service, "/auth/register", userOf(next++), [201, 409]);
      onUser?.(++done, count);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, registerRest));
  // At least one login: it shows that the users exist and that logins are not rate limited.
  const isReading = scenario === "read" || scenario === "mixed";
  const tokens = await logIn(service, isReading ? Math.min(count, MAX_TOKENS) : 1);
  if (isReading) await createTodos(service);
  if (signal.aborted) throw interrupted();
  return createRequests(asked, tokens);
}

interface Service {
  readonly url: string;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

async function expectService(service: Service): Promise<void> {
  const { response, json } = await request(service, "/healthz");
  if (response.ok && Check(Live, json)) return;
  throw unavailable(
    `${service.url} is not a Latchkey service: unexpected response to GET /healthz (${response.status}).`,
  );
}

/** @returns tokens of the first users */
async function logIn(service: Service, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count; index++) {
    const { email, password } = userOf(index);
    const path = "/auth/login";
    const { response, json } = await post(service, path, { email, password }, [200]);
    if (response.headers.has("ratelimit-limit")) throw rateLimited(service.url + path);
    if (!Check(Token, json)) throw unavailable(`${service.url}${path} returned no token.`);
    tokens.push(json.access_token);
  }
  return tokens;
}

/** Creates todos until a page is full. */
async function createTodos(service: Service): Promise<void> {
  const { json } = await request(service, TODOS_PATH);
  for (let index = Check(TodoPage, json) ? json.items.length : 0; index < PAGE_SIZE; index++) {
    await post(service, "/todos", { title: `Load test ${index + 1}` }, [201]);
  }
}

const interrupted = (): CliError =>
  new CliError("Interrupted before the measurement began.", EXIT.interrupted);
const rateLimited = (url: string): CliError =>
  unavailable(`${url} is rate limited. Start the service with RATE_LIMIT_ENABLED=false.`);

async function request({ url, timeoutSeconds, signal }: Service, path: string, init?: RequestInit) {
  const timeout = AbortSignal.timeout(1000 * timeoutSeconds);
  try {
    const response = await fetch(url + path, { ...init, signal: AbortSignal.any([signal, timeout]) });
    const json: unknown = await response
      .clone()
      .json()
      .catch(() => undefined);
    return { response, text: await response.text(), json };
  } catch (error) {
    if (signal.aborted) throw interrupted();
    const reason = timeout.aborted ? `no response within ${timeoutSeconds} s.` : describeError(error);
    throw unavailable(`${url}${path} is unreachable: ${reason}`);
  }
}

/** Repeats the request while the service responds with 503 and `Retry-After`. */
async function post(service: Service, path: string, body: object, accepted: readonly number[]) {
  const headers = { "content-type": "application/json" };
  for (;;) {
    const received = await request(service, path, { method: "POST", headers, body: JSON.stringify(body) });
    const { response, text } = received;
    if (accepted.includes(response.status)) return received;
    const url = service.url + path;
    if (response.status === 429) throw rateLimited(url);
    const retryAfter = Number(response.headers.get("retry-after"));
    if (response.status !== 503 || !(retryAfter > 0)) {
      throw unavailable(`${url} returned ${response.status}: ${text}`);
    }
    await setTimeout(1000 * retryAfter, undefined, { signal: service.signal }).catch(() => {
      throw interrupted();
    });
  }
}
