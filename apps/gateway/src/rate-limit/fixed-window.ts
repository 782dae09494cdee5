/**
 * Fixed windows in this process and in Redis. In this process their number is bounded, and a live counter is never dropped to
 * make room: when all counters are in use, new clients share one with their network.
 */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** `name` separates limits with equal windows. */
export interface WindowLimit {
  readonly name: string;
  readonly windowMs: number;
}

export interface Increment {
  /** Requests of this key in its current window, including this one. */
  readonly count: number;
  /** When the window ends, in milliseconds since the epoch. */
  readonly resetsAt: number;
  /** Takes it back where it was counted, at most once; does nothing if its window has ended. Never throws. */
  undo(): void | Promise<void>;
}

/** Counts one request of `key`; a window starts with its first request. Never throws. */
export type FixedWindow =
  | { readonly isSynchronous: true; increment(key: string): Increment }
  | { readonly isSynchronous: false; increment(key: string): Increment | Promise<Increment> };

interface Window {
  count: number;
  readonly resetsAt: number;
}

/** Bounds how long one request takes when many windows have ended at once. */
const MAX_DELETED_AT_ONCE = 100;

/**
 * New clients are counted by so many parts of their address, /48 of IPv6 or /24 of IPv4; then by /32 or /16, then all together.
 * Filling the second takes addresses from 100,000 networks of the size that an internet registry assigns to one provider.
 */
const NETWORK_PARTS = [3, 2];

/** A class, because a closure for each request prolongs the pauses of the garbage collector. */
class CountedRequest implements Increment {
  constructor(
    readonly count: number,
    readonly resetsAt: number,
    private readonly window: Window,
    private readonly keys: Map<string, Window>,
    private readonly key: string,
  ) {}

  undo(): void {
    this.window.count -= 1;
    if (this.window.count === 0 && this.keys.get(this.key) === this.window) this.keys.delete(this.key);
  }
}

/**
 * @param now milliseconds since the epoch
 * @param maxKeys live counters of single keys, and as many for each size of network
 */
export function createFixedWindow({ windowMs }: WindowLimit, now = Date.now, maxKeys = 100_000) {
  // Every window lasts equally long, so the insertion order of each map is its order of expiry.
  const keys = new Map<string, Window>();
  const networks = NETWORK_PARTS.map((parts) => ({ parts, windows: new Map<string, Window>() }));
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
    isSynchronous: true as const,
    increment(key: string): Increment {
      const time = now();
      let window = windowOf(keys, key, time);
      for (const { parts, windows } of networks) window ??= windowOf(windows, networkOf(key, parts), time);
      const counted = window ?? sharedWindow(time);
      counted.count += 1;
      return new CountedRequest(counted.count, counted.resetsAt, counted, keys, key);
    },
    /** Live counters of keys and networks. */
    get size(): number {
      return networks.reduce((size, { windows }) => size + windows.size, keys.size);
    },
  };
}

/** Keys that are not addresses, such as user ids, form one network. */
function networkOf(key: string, length: number): string {
  if (isIP(key) === 0) return "";
  const address = ipaddr.parse(key);
  const parts = "parts" in address ? address.parts : address.octets;
  return `${address.kind()} ${parts.slice(0, length)}`;
}

/** Returns the count and the rest of the window. A key that lost its expiry (in a failover) gets a new one. */
export const INCREMENT_SCRIPT = `
local count = redis.call("INCR", KEYS[1])
local remaining = redis.call("PTTL", KEYS[1])
if remaining < 0 then
  redis.call("PEXPIRE", KEYS[1], ARGV[1])
  remaining = tonumber(ARGV[1])
end
return {count, remaining}`;

/** `undo` keeps the expiry. A key that has expired stays absent. */
export const DECREMENT_SCRIPT = `
if tonumber(redis.call("GET", KEYS[1]) or "0") > 0 then redis.call("DECR", KEYS[1]) end`;
