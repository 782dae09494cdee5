/** What counts requests: one set of counters a quota, behind one interface for every store that can hold them. */

export interface Hit {
  /** Requests of this key in its current window, this one included. */
  readonly count: number;
  /** When the window ends, in milliseconds since the epoch. */
  readonly resetsAt: number;
}

export interface Counters {
  /** Counts one request of `key`; the window starts with the first one. Never throws. */
  hit(key: string): Hit | Promise<Hit>;
}

/** Makes the counters of one quota; `name` keeps those of equal quotas apart. */
export type CreateCounters = (quota: { readonly name: string; readonly windowMs: number }) => Counters;
