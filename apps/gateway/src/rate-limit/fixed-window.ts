/**
 * Fixed windows in this process. The number of windows is bounded, and unless the limit says so, a live window is never dropped to make
 * room. When all windows are in use, new clients from the same network share a window, and new keys that are not addresses share 65,536.
 * IPv4 and IPv6 have windows of their own: one client can send from so many IPv6 networks that all windows are in use.
 */
import { createHmac, randomBytes } from "node:crypto";
import { isIP } from "node:net";
import type { WindowLimit } from "@latchkey/limits";
import ipaddr from "ipaddr.js";
import { monotonicNow } from "./clock.ts";

export interface Counted {
  /** Number of requests of the key in the current window. */
  readonly count: number;
  /** When the window ends, in milliseconds of `monotonicNow`. */
  readonly resetsAt: number;
}

/** `count` includes the request. */
export interface Increment extends Counted {
  /** Reverts this increment in the store that counted it. Call at most once. Does nothing if the window has ended. Never throws. */
  undo(): void | Promise<void>;
}

/** `increment` counts one request of `key`, and never throws. A window starts with the first request of a key. */
export type FixedWindow = (
  | { readonly isSynchronous: true; increment(key: string): Increment }
  | { readonly isSynchronous: false; increment(key: string): Increment | Promise<Increment> }
) & {
  /** Returns the window of this key, and counts nothing. `count` is 0 if it has none. */
  read(key: string): Counted | Promise<Counted>;
  /** Ends the window of this key. Never throws. Does nothing to a window that several keys share. */
  clear(key: string): void | Promise<void>;
};

interface Window {
  count: number;
  readonly resetsAt: number;
}

/** Limits how long one request deletes windows when many windows have ended at once. */
const MAX_DELETED_AT_ONCE = 100;

/**
 * When all windows of keys are in use, new clients share the window of a network: first an IPv6 /48 or IPv4 /24 (three parts of
 * the address), then a /32 or /16 (two parts), then one window for all. The last window is used only if requests come from
 * 100,000 networks of the second size. An internet registry assigns a whole network of this size to one provider.
 */
const NETWORK_PARTS = [3, 2];

/**
 * No client knows which keys that are not addresses share a window: one of 65,536. Keys that begin with the same user id, up to the
 * colon, share one, so that a user cannot use up those of many others.
 */
const GROUP_KEY = randomBytes(32);
const GROUP_HEX_CHARACTERS = 4;
const groupOf = (key: string): string =>
  createHmac("sha256", GROUP_KEY)
    .update(key.replace(/:.*/s, ""))
    .digest("hex")
    .slice(0, GROUP_HEX_CHARACTERS);

/** The windows of the keys of one family: IPv4 addresses, IPv6 addresses, or keys that are not addresses. */
interface Family {
  readonly keys: Map<string, Window>;
  readonly networks: readonly { readonly parts: number; readonly windows: Map<string, Window> }[];
  /** Of the keys for which no other window is left. */
  shared: Window;
}

const createFamily = (): Family => ({
  keys: new Map(),
  networks: NETWORK_PARTS.map((parts) => ({ parts, windows: new Map() })),
  shared: { count: 0, resetsAt: 0 },
});

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
 * @param now milliseconds of a clock that is never set back
 * @param maxKeys maximum number of windows of single keys, and of windows of networks of each size, per family
 */
export function createFixedWindow(
  { windowMs, endsOldest }: WindowLimit,
  now = monotonicNow,
  maxKeys = 100_000,
) {
  // All windows last equally long, so the insertion order of each map is also the order of expiry.
  const [ipv4, ipv6, others] = [createFamily(), createFamily(), createFamily()];
  const familyOf = (key: string): Family => {
    const version = isIP(key);
    if (version === 0) return others;
    return version === 4 ? ipv4 : ipv6;
  };

  /** Returns the live window of `key`, or a new window; undefined if all windows are in use. */
  const windowOf = (windows: Map<string, Window>, key: string, time: number): Window | undefined => {
    const known = windows.get(key);
    if (known && known.resetsAt > time) return known;
    // Deletes the old window, so that the new window is inserted at the end of the map.
    windows.delete(key);
    let deleted = 0;
    for (const [expired, { resetsAt }] of windows) {
      if (resetsAt > time || deleted++ === MAX_DELETED_AT_ONCE) break;
      windows.delete(expired);
    }
    if (windows.size >= maxKeys) {
      if (!endsOldest) return undefined;
      const [oldest = ""] = windows.keys();
      windows.delete(oldest);
    }
    const window = { count: 0, resetsAt: time + windowMs };
    windows.set(key, window);
    return window;
  };

  const sharedWindow = (family: Family, time: number): Window => {
    if (family.shared.resetsAt <= time) family.shared = { count: 0, resetsAt: time + windowMs };
    return family.shared;
  };

  return {
    isSynchronous: true as const,
    increment(key: string): Increment {
      const time = now();
      const family = familyOf(key);
      let window = windowOf(family.keys, key, time);
      for (const { parts, windows } of family.networks)
        window ??= windowOf(windows, networkOf(key, parts), time);
      const counted = window ?? sharedWindow(family, time);
      counted.count += 1;
      return new CountedRequest(counted.count, counted.resetsAt, counted, family.keys, key);
    },
    read(key: string): Counted {
      const { count, resetsAt } = familyOf(key).keys.get(key) ?? { count: 0, resetsAt: 0 };
      return resetsAt > now() ? { count, resetsAt } : { count: 0, resetsAt: 0 };
    },
    clear(key: string): void {
      familyOf(key).keys.delete(key);
    },
    /** Number of windows of keys and networks. */
    get size(): number {
      return [ipv4, ipv6, others]
        .flatMap(({ keys, networks }) => [keys.size, ...networks.map(({ windows }) => windows.size)])
        .reduce((sum, size) => sum + size);
    },
  };
}

/** Keys that are not addresses form 65,536 networks of the first size, and one of the second. */
function networkOf(key: string, length: number): string {
  if (isIP(key) === 0) return length === NETWORK_PARTS[0] ? groupOf(key) : "";
  const address = ipaddr.parse(key);
  const parts = "parts" in address ? address.parts : address.octets;
  return `${address.kind()} ${parts.slice(0, length)}`;
}
