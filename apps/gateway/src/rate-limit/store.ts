/** Counts the requests of one quota. Every store implements this interface. */

export interface Increment {
  /** Requests of this key in its current window, including this one. */
  readonly count: number;
  /** When the window ends, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

export interface RateLimitStore {
  /** Counts one request of `key`; a window starts with its first request. Never throws. */
  increment(key: string): Increment | Promise<Increment>;
  /** Takes back one increment of `key`; does nothing if its window has ended. Never throws. */
  decrement(key: string): void | Promise<void>;
}

/** Creates the store of one quota; `name` separates quotas with equal values. */
export type CreateStore = (quota: { readonly name: string; readonly windowMs: number }) => RateLimitStore;
