/** The accounts that clients log in with: registered through the public API, found again by a later run. */
import { LoadtestError } from "./errors.ts";

export interface Account {
  readonly email: string;
  readonly password: string;
}

const PASSWORD = "a load test's password";
/** Registrations at once: enough to fill the service's hash workers, too few to fill its queue. */
const CONCURRENCY = 8;

const describe = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** @throws {LoadtestError} when the URL does not answer as the service does */
export async function expectService(url: string): Promise<void> {
  const refuse = (problem: string) => new LoadtestError(`${url} ${problem}`, 69);
  const answer = await fetch(`${url}/healthz`).catch((error: unknown) => {
    throw refuse(`cannot be reached: ${describe(error)}`);
  });
  const body: unknown = await answer.json().catch(() => null);
  if (
    !answer.ok ||
    typeof body !== "object" ||
    body === null ||
    !("status" in body) ||
    body.status !== "ok"
  ) {
    throw refuse(`is no Latchkey service: GET /healthz answered ${answer.status} without its status.`);
  }
}

/** @throws {LoadtestError} when the service does not let so many accounts be made, or limits their logins */
export async function createAccounts(url: string, count: number): Promise<readonly Account[]> {
  const accounts = Array.from({ length: count }, (_, index) => ({
    email: `loadtest-${index + 1}@example.org`,
    username: `loadtest-${index + 1}`,
    password: PASSWORD,
  }));
  const left = [...accounts];
  const registerRest = async (): Promise<void> => {
    for (let account = left.pop(); account !== undefined; account = left.pop()) {
      // 409: made by an earlier run.
      await send(`${url}/auth/register`, account, [201, 409]);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, registerRest));
  const [first] = accounts;
  if (first) await send(`${url}/auth/login`, first, [200]);
  return accounts;
}

async function send(url: string, body: Account, accepted: readonly number[]): Promise<void> {
  for (;;) {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...body }),
    });
    const detail = await answer.text();
    if (accepted.includes(answer.status)) return;
    if (answer.status === 429) {
      const limits = "Start it with RATE_LIMIT_ENABLED=false to measure it.";
      throw new LoadtestError(`${url} is limited by the service's rate limits. ${limits}`, 69);
    }
    const retryAfter = Number(answer.headers.get("retry-after"));
    if (answer.status !== 503 || !(retryAfter > 0)) {
      throw new LoadtestError(`${url} answered ${answer.status}: ${detail}`, 69);
    }
    await Bun.sleep(retryAfter * 1000);
  }
}
