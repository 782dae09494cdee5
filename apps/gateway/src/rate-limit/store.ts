/** A store counts requests and attempts. It counts each limit once, however often its window or bucket is opened. */
import type { BucketLimit, WindowLimit } from "@latchkey/limits";
import { monotonicNow } from "./clock.ts";
import { createFixedWindow, type FixedWindow } from "./fixed-window.ts";
import { createTokenBucket, type TokenBucket } from "./token-bucket.ts";

export interface Store {
  fixedWindow(limit: WindowLimit): FixedWindow;
  tokenBucket(limit: BucketLimit): TokenBucket;
}

/** @param now milliseconds of a clock that is never set back */
export const createMemoryStore = (now = monotonicNow) =>
  ({
    fixedWindow: once(
      ({ windowMs }) => windowMs,
      (limit: WindowLimit) => createFixedWindow(limit, now),
    ),
    tokenBucket: once(
      ({ refillMs }) => refillMs,
      (limit: BucketLimit) => createTokenBucket(limit, now),
    ),
  }) satisfies Store;

function once<Limit extends { readonly name: string }, Counter>(
  timeOf: (limit: Limit) => number,
  create: (limit: Limit) => Counter,
) {
  const counters = new Map<string, Counter>();
  return (limit: Limit): Counter => {
    const key = `${limit.name} ${timeOf(limit)}`;
    const counter = counters.get(key) ?? create(limit);
    counters.set(key, counter);
    return counter;
  };
}
