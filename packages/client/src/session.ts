/**
 * Holds the token of the logged-in user. Tabs of a browser share the token through `storage`. Each change of the token is
 * reported once. A token with the claim `auth_time` is renewed before the token expires. Only a service that renews tokens sets
 * `auth_time`.
 */
import { issuedAt, lifetimeMs, readClaims, readObject } from "./claims.ts";
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";
import { createStoredText, isPromise, type StorageOption } from "./storage.ts";

export interface SessionOptions {
  /** A token to use instead of a login. @default the token in `storage` */
  readonly token?: string | undefined;
  /**
   * Keeps the token, for example `() => localStorage`, which tabs share. A function is called once, when the token is first
   * needed. Without usable storage, or after it failed, the token is only in memory. @default none
   */
  readonly storage?: StorageOption | undefined;
  /**
   * Called when the stored token changes, for example by a renewal, in another tab or when asynchronous storage was read. `token`
   * is undefined if no user is logged in.
   */
  readonly onTokenChange?: ((token: string | undefined) => void) | undefined;
}

/** The token of the logged-in user; undefined if no user is logged in. */
interface Held {
  readonly token: string | undefined;
  /** Milliseconds since the epoch, on the local clock. `Infinity` means never, and is null in JSON. */
  readonly renewAt: number;
}

/** Fractions of a token's lifetime: the time from receipt to renewal, and the pause after a failed renewal. */
const RENEWAL_POINT = 0.75;
const RETRY_PAUSE = 0.05;
const MIN_PAUSE_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @param renew requests a new token and passes it to `replace` */
export function createSession(
  { token, storage, onTokenChange }: SessionOptions,
  key: string,
  renew: () => Promise<unknown>,
) {
  const stored = createStoredText(storage, key);
  let held = receive(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the timer of the renewal has fired. Unlike the clock, nobody sets a timer back. */
  let isTimeUp = false;
  let isRenewing = false;
  let isClosed = false;
  let isLoaded = false;
  /** Until asynchronous storage was read. */
  let loading: Promise<void> | undefined;

  const isDue = (): boolean => {
    const remainingMs = held.renewAt - Date.now();
    // The clock was set back if more time remains than at the receipt.
    const isTooLong = remainingMs > Math.max(MIN_PAUSE_MS, lifetimeMs(held.token) * RENEWAL_POINT);
    return held.renewAt !== Infinity && (isTimeUp || isTooLong || remainingMs <= 0);
  };
  /** Sets the timer of the next renewal. Sets no timer during a renewal, because `renewIfDue` calls `schedule` afterwards. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (isClosed || isRenewing || held.renewAt === Infinity) return;
    // In browsers without locks, the random delay usually lets one tab renew the token before the other tabs try.
    const delayMs = isDue() ? 0 : (held.renewAt - Date.now()) * (1 + Math.random() / 20);
    const fire = () => {
      isTimeUp = delayMs <= MAX_TIMER_MS;
      renewIfDue();
    };
    timer = setTimeout(fire, Math.min(delayMs, MAX_TIMER_MS));
    unref(timer);
  };
  const adopt = (next: Held): void => {
    const isOther = held.token !== next.token;
    if (!isOther && held.renewAt === next.renewAt) return;
    held = next;
    isTimeUp = false;
    schedule();
    if (isOther) onTokenChange?.(held.token);
  };
  const hold = (next: Held): Promise<unknown> | undefined => {
    isLoaded = true;
    loading = undefined;
    const written = stored.write(next.token === undefined ? null : JSON.stringify(next));
    adopt(next);
    return written;
  };
  /** Reads the stored token. Returns a promise only until asynchronous storage was read. */
  const load = (): Promise<void> | undefined => {
    if (isLoaded) return loading;
    isLoaded = true;
    const text = stored.read();
    if (isPromise(text)) {
      const current = text.then((value) => {
        // A login or a logout was faster.
        if (loading !== current) return;
        loading = undefined;
        adopt(parseHeld(value));
      });
      loading = current;
    } else held = parseHeld(text);
    start();
    return loading;
  };
  const start = (): void => {
    schedule();
    if (stored.isShared && !isClosed) browser().addEventListener?.("storage", synchronize);
  };
  /** Reads the token that another tab has stored. The `storage` event arrives too late if this tab was suspended. */
  const synchronize = (): void => {
    load();
    const text = stored.isShared ? stored.read() : undefined;
    if (typeof text === "string" || text === null) adopt(parseHeld(text));
  };

  const renewOnce = async (): Promise<void> => {
    synchronize();
    const sent = held.token;
    if (!isDue()) return;
    await renew().catch((error) => {
      if (held.token !== sent) return;
      const pauseMs = Math.max(MIN_PAUSE_MS, lifetimeMs(sent) * RETRY_PAUSE);
      hold({ token: sent, renewAt: isTemporary(error) ? Date.now() + pauseMs : Infinity });
    });
  };
  /** Keeps the lock for a moment after the renewal, because other tabs see the stored token only a little later. */
  const renewAlone = (lock: unknown): Promise<void> => (lock ? renewOnce().then(pause) : pause());
  /** Sends only one request for all callers. If the browser has locks, all tabs together send only one request. */
  const renewIfDue = (): void => {
    synchronize();
    if (isClosed || isRenewing || !isDue()) return;
    isRenewing = true;
    const { locks } = browser().navigator ?? {};
    const work =
      stored.isShared && locks
        ? locks.request(key, { ifAvailable: true }, renewAlone).catch(renewOnce)
        : renewOnce();
    void work.finally(() => {
      isRenewing = false;
      schedule();
    });
  };

  if (token !== undefined) {
    held = receive(token, { receivedAt: issuedAt(token) });
    hold(held);
    start();
  } else if (typeof storage === "function") queueMicrotask(load);
  else load();

  return {
    get token() {
      load();
      return held.token;
    },
    load,
    synchronize,
    renewIfDue,
    /** Asynchronous storage returns a promise. @param next undefined: no user is logged in */
    store: (next: string | undefined): Promise<unknown> | undefined => hold(receive(next)),
    /**
     * Stores `next` unless this tab or another tab has already replaced `sent`. Returns whether `next` was stored.
     * @param sent the token that a request sent
     * @param next undefined: no user is logged in
     */
    replace(sent: string | undefined, next: string | undefined): boolean {
      synchronize();
      if (sent === undefined || held.token !== sent) return false;
      hold(receive(next, { previous: sent }));
      return true;
    },
    /** Forgets the stored token if it is `sent` or a renewal of `sent`. All tokens of one login have the same `auth_time`. */
    endLogin(sent: string | undefined): void {
      synchronize();
      const { auth_time } = readClaims(sent);
      const isRenewal = auth_time !== undefined && readClaims(held.token).auth_time === auth_time;
      if (held.token === sent || isRenewal) hold(receive(undefined));
    },
    /** Ends the timer and the listener. The token remains. */
    close(): void {
      isClosed = true;
      clearTimeout(timer);
      browser().removeEventListener?.("storage", synchronize);
    },
  };
}

/**
 * Calculates `renewAt` from the local time of receipt and the lifetime, because the clock of the service can differ, and browsers
 * do not expose the `Date` header. The last token of a login expires at the same time as `previous`, and is not renewed. A token
 * that expires earlier shows that the clock of the service was set back.
 */
function receive(token: string | undefined, { previous = "", receivedAt = Date.now() } = {}): Held {
  const { exp = 0, auth_time } = readClaims(token);
  const isLast = exp === readClaims(previous).exp;
  const canRenew = auth_time !== undefined && !isLast && lifetimeMs(token) > 0;
  return { token, renewAt: canRenew ? receivedAt + lifetimeMs(token) * RENEWAL_POINT : Infinity };
}

/** Whether there is no response, or one that does not concern the token or is not from the service. */
const isTemporary = (error: unknown): boolean =>
  error instanceof LatchkeyConnectionError ||
  (error instanceof LatchkeyError &&
    (error.status === 429 || error.status >= 500 || error.code === undefined));

/** Parses text that this version or another version of the client has stored. */
function parseHeld(text: string | null | undefined): Held {
  const { token, renewAt } = readObject(() => text ?? "");
  if (typeof token !== "string") return receive(undefined);
  return { token, renewAt: typeof renewAt === "number" ? renewAt : Infinity };
}

interface Browser {
  addEventListener?(type: "storage", listener: () => void): void;
  removeEventListener?(type: "storage", listener: () => void): void;
  readonly navigator?: {
    readonly locks?: {
      request(name: string, options: object, work: (lock: unknown) => Promise<void>): Promise<void>;
    };
  };
}

/** The cast is safe because every member is optional: Node and Bun lack some members. */
const browser = () => globalThis as unknown as Browser;

const pause = () => new Promise<void>((resolve) => unref(setTimeout(resolve, MIN_PAUSE_MS)));

/** Lets Node and Bun exit before the timer fires. The cast is safe because `unref` is optional: browser timers do not have it. */
const unref = (timer: unknown): void => (timer as { unref?(): void }).unref?.();
