/**
 * RateLimitStore in this process. It is bounded, and a live counter is never dropped to make room: when all counters are
 * in use, new clients share one with their network.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Increment } from "./store.ts";

interface MemoryStoreOptions {
  readonly windowMs: number;
  /** Live counters of single keys, and as many for each size of network. @default 100_000 */
  readonly maxKeys?: number;
  /** Milliseconds since the epoch. @default Date.now */
  readonly now?: () => number;
}

/** Bounds how long one request takes when many windows have ended at once. */
const MAX_DELETED_AT_ONCE = 100;

interface Window {
  count: number;
  readonly resetsAt: number;
}

/** A class, because a closure for each request prolongs the pauses of the garbage collector. */
class CountedRequest implements Increment {
  readonly count: number;
  readonly resetsAt: number;

  constructor(
    private readonly window: Window,
    private readonly keys: Map<string, Window>,
    private readonly key: string,
  ) {
    this.count = window.count;
    this.resetsAt = window.resetsAt;
  }

  undo(): void {
    this.window.count -= 1;
    if (this.window.count === 0 && this.keys.get(this.key) === this.window) this.keys.delete(this.key);
  }
}

/**
 * New clients are counted by the first of these prefixes that has a counter available, then all together. Filling the
 * second takes addresses from 100,000 networks of the size that an internet registry assigns to one provider.
 */
const NETWORK_PREFIXES = [
  { ipv6: 48, ipv4: 24 },
  { ipv6: 32, ipv4: 16 },
] as const;

export function createMemoryStore(options: MemoryStoreOptions) {
  const { windowMs, maxKeys = 100_000, now = Date.now } = options;
  // Every window lasts equally long, so the insertion order of each map is its order of expiry.
  const keys = new Map<string, Window>();
  const networks = NETWORK_PREFIXES.map((prefix) => ({ prefix, windows: new Map<string, Window>() }));
  let shared: Window = { count: 0, resetsAt: 0 };

  /** The live window of `key`, or a new one; undefined if all counters are in use. */
  const windowOf = (windows: Map<string, Window>, key: string, time: number): Window | undefined => {
    const known = windows.get(key);
    if (known && known.resetsAt > time) return known;
    // Moves its new window to the end of the order.
    windows.delete(key);
    let deleted = 0;
    for (const [expired, { resetsAt }] of windows) {
      if (resetsAt > time || deleted++ === MAX_DELETED_AT_ONCE) break;
      windows.delete(expired);
    }
    if (windows.size >= maxKeys) return undefined;
    const window = { count: 0, resetsAt: time + windowMs };
    windows.set(key, window);
    return window;
  };

  const sharedWindow = (time: number): Window => {
    if (shared.resetsAt <= time) shared = { count: 0, resetsAt: time + windowMs };
    return shared;
  };

  return {
    isSynchronous: true,
    increment(key: string): Increment {
      const time = now();
      let window = windowOf(keys, key, time);
      for (const { prefix, windows } of networks) window ??= windowOf(windows, networkOf(key, prefix), time);
      const counted = window ?? sharedWindow(time);
      counted.count += 1;
      return new CountedRequest(counted, keys, key);
    },
    /** Live counters of keys and networks. */
    get size(): number {
      return networks.reduce((size, { windows }) => size + windows.size, keys.size);
    },
  };
}

/** Keys that are not addresses, such as user ids, form one network. */
function networkOf(key: string, prefix: (typeof NETWORK_PREFIXES)[number]): string {
  if (isIP(key) === 0) return "";
  const address = ipaddr.parse(key);
  return "parts" in address
    ? address.parts.slice(0, prefix.ipv6 / 16).join(":")
    : address.octets.slice(0, prefix.ipv4 / 8).join(".");
}
