/** Counts the requests of one quota, and the attempts of one kind of budget. Every store implements these interfaces. */

export interface Increment {
  /** Requests of this key in its current window, including this one. */
  readonly count: number;
  /** When the window ends, in milliseconds since the epoch. */
  readonly resetsAt: number;
  /** Takes it back where it was counted, at most once; does nothing if its window has ended. Never throws. */
  undo(): void | Promise<void>;
}

export interface RateLimitStore {
  /** Whether `increment` never returns a promise. */
  readonly isSynchronous: boolean;
  /** Counts one request of `key`; a window starts with its first request. Never throws. */
  increment(key: string): Increment | Promise<Increment>;
}

/** Creates the store of one quota; `name` separates quotas with equal values. */
export type CreateStore = (quota: { readonly name: string; readonly windowMs: number }) => RateLimitStore;

/** A token bucket: `attempts` at first, then one more every `refillMs`, up to `attempts`. */
export interface Budget {
  readonly name: string;
  readonly attempts: number;
  readonly refillMs: number;
}

export interface BudgetStore {
  /**
   * Deducts one attempt from the budget of `key`. Returns 0, or if the budget is empty, the milliseconds until its next
   * attempt; then nothing is deducted. Never throws.
   * @param key a keyed digest in hexadecimal digits: clients cannot choose keys that collide
   */
  take(key: string): number | Promise<number>;
}

/** Creates the store of one kind of budget; `name` separates kinds with equal values. */
export type CreateBudgetStore = (budget: Budget) => BudgetStore;
