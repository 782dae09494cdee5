/** Makes the accounts through the service's public API, and checks that it is a service that may be measured. */
import { Live, Token } from "@latchkey/contracts";
import { Check } from "typebox/value";
import { describeError, EXIT, LoadtestError } from "../errors.ts";
import { TODOS_PATH } from "./scenarios.ts";
import { type Account, accountOf } from "./users.ts";

/** How far something long has come. */
export type Advance = (done: number, total: number) => void;

export interface AccountsOptions {
  readonly url: string;
  readonly count: number;
  readonly signal: AbortSignal;
  readonly onAdvance: Advance;
}

/** Registrations at once: enough to fill the service's hash workers, too few to fill its queue. */
const CONCURRENCY = 8;
const PAGE = 20;

const unavailable = (text: string) => new LoadtestError(text, EXIT.unavailable);

/** @throws {LoadtestError} when the URL does not answer as the service does */
export async function expectService(url: string): Promise<void> {
  const answer = await fetch(`${url}/healthz`).catch((error: unknown) => {
    throw unavailable(`${url} cannot be reached: ${describeError(error)}`);
  });
  const body: unknown = await answer.json().catch(() => null);
  if (answer.ok && Check(Live, body)) return;
  throw unavailable(
    `${url} is no Latchkey service: GET /healthz answered ${answer.status} without its status.`,
  );
}

/** Registers those that an earlier run has not. @throws {LoadtestError} when the service does not let them be made */
export async function registerAccounts({ url, count, signal, onAdvance }: AccountsOptions): Promise<void> {
  let next = 0;
  let done = 0;
  const registerRest = async (): Promise<void> => {
    while (next < count && !signal.aborted) {
      const account = accountOf(next++);
      // 409: made by an earlier run.
      await post(`${url}/auth/register`, account, [201, 409], signal);
      onAdvance(++done, count);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, registerRest));
}

/** Tokens of the first accounts. @throws {LoadtestError} when the service limits logins or does not know the accounts */
export async function logInAccounts({
  url,
  count,
  signal,
}: Omit<AccountsOptions, "onAdvance">): Promise<string[]> {
  const tokens: string[] = [];
  for (let index = 0; index < count && !signal.aborted; index++) {
    const answer = await post(`${url}/auth/login`, accountOf(index), [200], signal);
    if (answer === null) break;
    if (answer.headers.has("ratelimit-limit")) throw limited(`${url}/auth/login`);
    const body: unknown = await answer.json();
    if (!Check(Token, body)) throw unavailable(`${url}/auth/login answered without a token.`);
    tokens.push(body.access_token);
  }
  return tokens;
}

/** Sees to it that a page of todos is a full one. @throws {LoadtestError} */
export async function fillTodos(url: string, signal: AbortSignal): Promise<void> {
  const answer = await fetch(url + TODOS_PATH, { signal });
  const page: unknown = await answer.json();
  const items =
    typeof page === "object" && page !== null && "items" in page && Array.isArray(page.items)
      ? page.items.length
      : 0;
  for (let index = items; index < PAGE; index++) {
    await post(`${url}/todos`, { title: `Load test ${index + 1}` }, [201], signal);
  }
}

const limited = (url: string): LoadtestError =>
  unavailable(
    `${url} is limited by the service's rate limits. Start it with RATE_LIMIT_ENABLED=false to measure it.`,
  );

/** Null when the signal came first. */
async function post(
  url: string,
  body: Account | { readonly title: string },
  accepted: readonly number[],
  signal: AbortSignal,
): Promise<Response | null> {
  const init = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...body }),
    signal,
  };
  while (!signal.aborted) {
    const answer = await fetch(url, init).catch((error: unknown) => {
      if (signal.aborted) return null;
      throw unavailable(`${url} cannot be reached: ${describeError(error)}`);
    });
    if (answer === null) return null;
    if (accepted.includes(answer.status)) return answer;
    if (answer.status === 429) throw limited(url);
    const retryAfter = Number(answer.headers.get("retry-after"));
    if (answer.status !== 503 || !(retryAfter > 0)) {
      throw unavailable(`${url} answered ${answer.status}: ${await answer.text()}`);
    }
    await Bun.sleep(retryAfter * 1000);
  }
  return null;
}
