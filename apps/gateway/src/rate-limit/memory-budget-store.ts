/**
 * BudgetStore in this process. It is bounded, and dropping a budget never gives back an attempt: a full store drops the
 * budgets with the most attempts left, and keys that are not stored start with no more than the last of them had.
 */
import type { Budget } from "./store.ts";

interface MemoryBudgetStoreOptions extends Omit<Budget, "name"> {
  /** @default 100_000 */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

/** The share of budgets that a full store drops at once, because finding them takes a pass over all. */
const DROPPED_SHARE = 0.1;

export function createMemoryBudgetStore(options: MemoryBudgetStoreOptions) {
  const { attempts, refillMs, maxKeys = 100_000, now = Date.now } = options;
  /** The time at which each budget is full again; each attempt moves it by `refillMs`. */
  const fullAt = new Map<string, number>();
  /** The same for all keys that are not stored: the latest time of a budget that was dropped. */
  let othersFullAt = 0;

  const dropFullest = (): void => {
    const times = Float64Array.from(fullAt.values()).sort();
    othersFullAt = times[Math.floor(maxKeys * DROPPED_SHARE)] ?? othersFullAt;
    for (const [key, time] of fullAt) if (time <= othersFullAt) fullAt.delete(key);
  };

  return {
    take(key: string): number {
      const time = now();
      const nextFullAt = Math.max(fullAt.get(key) ?? othersFullAt, time) + refillMs;
      const waitMs = nextFullAt - time - attempts * refillMs;
      if (waitMs > 0) return waitMs;
      if (fullAt.size >= maxKeys && !fullAt.has(key)) dropFullest();
      fullAt.set(key, nextFullAt);
      return 0;
    },
    /** Stored budgets. */
    get size(): number {
      return fullAt.size;
    },
  };
}
