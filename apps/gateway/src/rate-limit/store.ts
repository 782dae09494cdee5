/** What counts requests: one set of store a quota, behind one interface for every store that can hold them. */

export interface Increment {
  /** Requests of this key in its current window, this one included. */
  readonly count: number;
  /** When the window ends, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

export interface RateLimitStore {
  /** Counts one request of `key`; the window starts with the first one. Never throws. */
  increment(key: string): Increment | Promise<Increment>;
}

/** Makes the store of one quota; `name` keeps those of equal quotas apart. */
export type CreateStore = (quota: { readonly name: string; readonly windowMs: number }) => RateLimitStore;
