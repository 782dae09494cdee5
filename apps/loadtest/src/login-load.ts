/** Closed-loop logins: each client logs in again as soon as it is answered, so that never more than so many wait. */
import type { Account } from "./accounts.ts";
import { type Percentiles, percentilesOf } from "./percentiles.ts";

export interface LoginLoadOptions {
  readonly url: string;
  readonly accounts: readonly Account[];
  readonly concurrency: number;
  readonly durationSeconds: number;
}

export interface LoginLoad {
  /** Answers of 200 per second. */
  readonly perSecond: number;
  /** Answers by status; `none` where the connection broke. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Milliseconds of the answers of 200; null if there were none. */
  readonly latency: Percentiles | null;
}

/** Until every client has been answered once or so: the lanes of an idle service fill, and nothing has come out yet. */
const WARM_UP_MS = 1000;

/**
 * Counts the answers that come within `durationSeconds` after the warm-up. Ends on time: logins without an answer by
 * then are given up, as those that were under way at the beginning are counted.
 */
export async function runLoginLoad(options: LoginLoadOptions): Promise<LoginLoad> {
  const { url, accounts, concurrency, durationSeconds } = options;
  const statuses: Record<string, number> = {};
  const latencies: number[] = [];
  const stop = new AbortController();
  const countedFrom = performance.now() + WARM_UP_MS;
  const timer = setTimeout(() => stop.abort(), WARM_UP_MS + durationSeconds * 1000);

  const client = async (index: number): Promise<void> => {
    const body = JSON.stringify(accounts[index % accounts.length]);
    while (!stop.signal.aborted) {
      const sentAt = performance.now();
      const status = await logIn(`${url}/auth/login`, body, stop.signal);
      if (stop.signal.aborted) return;
      const isCounted = performance.now() >= countedFrom;
      if (isCounted) statuses[status] = (statuses[status] ?? 0) + 1;
      if (isCounted && status === "200") latencies.push(performance.now() - sentAt);
      // A refusal costs the service nothing; without a pause it would cost this process everything.
      if (status !== "200") await Bun.sleep(100);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, (_, index) => client(index)));
  clearTimeout(timer);

  const perSecond = Math.round((10 * latencies.length) / durationSeconds) / 10;
  return { perSecond, statuses, latency: percentilesOf(latencies) };
}

async function logIn(url: string, body: string, signal: AbortSignal): Promise<string> {
  try {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
      signal,
    });
    await answer.arrayBuffer();
    return String(answer.status);
  } catch {
    return "none";
  }
}
