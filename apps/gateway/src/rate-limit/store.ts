/** A store counts requests and attempts. Every store has fixed windows and token buckets, and counts each limit separately. */
import { monotonicNow } from "./clock.ts";
import { createFixedWindow, type FixedWindow, type WindowLimit } from "./fixed-window.ts";
import { type BucketLimit, createTokenBucket, type TokenBucket } from "./token-bucket.ts";

export interface Store {
  fixedWindow(limit: WindowLimit): FixedWindow;
  tokenBucket(limit: BucketLimit): TokenBucket;
}

/** @param now milliseconds of a clock that is never set back */
export const createMemoryStore = (now = monotonicNow) =>
  ({
    fixedWindow: (limit) => createFixedWindow(limit, now),
    tokenBucket: (limit) => createTokenBucket(limit, now),
  }) satisfies Store;
