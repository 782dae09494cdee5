/**
 * RateLimitStore in this process. Every window lasts the same, so the map's insertion order is its order of expiry:
 * expired windows are always at the front, and no live one is ever dropped to make room.
 */
import type { Increment, RateLimitStore } from "./store.ts";

export interface MemoryCountersOptions {
  readonly windowMs: number;
  /** Keys with a counter of their own; beyond it new keys share one. @default 100_000 */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

export interface MemoryCounters extends RateLimitStore {
  increment(key: string): Increment;
  /** Keys that have a counter at the moment. */
  readonly size: number;
}

interface Window {
  count: number;
  readonly resetsAt: number;
}

export function createMemoryStore({
  windowMs,
  maxKeys = 100_000,
  now = Date.now,
}: MemoryCountersOptions): MemoryCounters {
  const windows = new Map<string, Window>();
  let overflow: Window = { count: 0, resetsAt: 0 };

  const dropExpired = (time: number): void => {
    for (const [key, window] of windows) {
      if (window.resetsAt > time) return;
      windows.delete(key);
    }
  };

  const open = (key: string, time: number): Window => {
    dropExpired(time);
    const fresh: Window = { count: 0, resetsAt: time + windowMs };
    if (windows.size < maxKeys) windows.set(key, fresh);
    else if (overflow.resetsAt <= time) overflow = fresh;
    else return overflow;
    return fresh;
  };

  return {
    increment(key) {
      const time = now();
      const known = windows.get(key);
      const window = known && known.resetsAt > time ? known : open(key, time);
      window.count += 1;
      return { count: window.count, resetsAt: window.resetsAt };
    },
    get size() {
      return windows.size;
    },
  };
}
