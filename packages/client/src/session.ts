/**
 * Holds the token of the logged-in user. Tabs of a browser share the token through `storage`. Each change of the token is
 * reported once. A token with the claim `auth_time` is renewed before the token expires. Only a service that renews tokens sets
 * `auth_time`.
 */
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";

/** The part of `localStorage` that the client uses. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface SessionOptions {
  /** A token to use instead of a login. @default the token in `storage` */
  readonly token?: string | undefined;
  /** Keeps the token and shares it with other tabs, for example `localStorage`. @default none: the token is only in memory */
  readonly storage?: TokenStorage | undefined;
  /**
   * Called when the stored token changes, for example by a renewal or in another tab. `token` is undefined if no user is logged
   * in.
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

/**
 * @param key the key of the token in `storage`
 * @param renew requests a new token and passes it to `replace`
 */
export function createSession(
  { token, storage, onTokenChange }: SessionOptions,
  key: string,
  renew: () => Promise<unknown>,
) {
  let held =
    token === undefined ? parseHeld(storage?.getItem(key)) : receive(token, { receivedAt: issuedAt(token) });
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isRenewing = false;

  /** Sets the timer of the next renewal. Sets no timer during a renewal, because `renewIfDue` calls `schedule` afterwards. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (isRenewing || held.renewAt === Infinity) return;
    // In browsers without locks, the random delay usually lets one tab renew the token before the other tabs try.
    const delayMs = Math.max(0, held.renewAt - Date.now()) * (1 + Math.random() / 20);
    timer = setTimeout(renewIfDue, Math.min(delayMs, MAX_TIMER_MS));
    unref(timer);
  };
  const adopt = (next: Held): void => {
    const isOther = held.token !== next.token;
    held = next;
    schedule();
    if (isOther) onTokenChange?.(held.token);
  };
  const hold = (next: Held): void => {
    if (next.token === undefined) storage?.removeItem(key);
    else storage?.setItem(key, JSON.stringify(next));
    adopt(next);
  };
  /** Reads the token that another tab has stored. The `storage` event arrives too late if this tab was suspended. */
  const synchronize = (): void => adopt(storage ? parseHeld(storage.getItem(key)) : held);

  const renewOnce = async (): Promise<void> => {
    synchronize();
    const sent = held.token;
    if (held.renewAt > Date.now()) return;
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
    if (isRenewing || held.renewAt > Date.now()) return;
    isRenewing = true;
    const { locks } = browser().navigator ?? {};
    const work =
      storage && locks ? locks.request(key, { ifAvailable: true }, renewAlone).catch(renewOnce) : renewOnce();
    void work.finally(() => {
      isRenewing = false;
      schedule();
    });
  };

  if (token !== undefined) hold(held);
  schedule();
  if (storage) browser().addEventListener?.("storage", synchronize);

  return {
    get token() {
      return held.token;
    },
    synchronize,
    renewIfDue,
    /** @param next undefined: no user is logged in */
    store: (next: string | undefined): void => hold(receive(next)),
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
  };
}

/**
 * Calculates `renewAt` from the local time of receipt and the lifetime, because the clock of the service can differ, and browsers
 * do not expose the `Date` header. The last token of a login does not expire later than `previous`, and is not renewed.
 */
function receive(token: string | undefined, { previous = "", receivedAt = Date.now() } = {}): Held {
  const { exp = 0, auth_time } = readClaims(token);
  const isLater = exp > (readClaims(previous).exp ?? 0);
  const canRenew = auth_time !== undefined && isLater && lifetimeMs(token) > 0;
  return { token, renewAt: canRenew ? receivedAt + lifetimeMs(token) * RENEWAL_POINT : Infinity };
}

/** Returns the time of issue, but at most the local time. Another client can have received the token long ago. */
const issuedAt = (token: string): number => Math.min(Date.now(), (readClaims(token).iat ?? 0) * 1000);

function lifetimeMs(token: string | undefined): number {
  const { iat = 0, exp = 0 } = readClaims(token);
  return (exp - iat) * 1000;
}

/** Whether there is no response, or an error response that does not concern the token. */
const isTemporary = (error: unknown): boolean =>
  error instanceof LatchkeyConnectionError ||
  (error instanceof LatchkeyError && (error.status === 429 || error.status >= 500));

type TimeClaims = { readonly [Name in "iat" | "exp" | "auth_time"]?: number };

/** Returns the times in a JWT (RFC 7519 §4.1), or an empty object if `token` is not a JWT. */
export function readClaims(token = ""): TimeClaims {
  const [, payload = ""] = token.split(".");
  const members = readObject(() => atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === "number"));
}

/** Parses text that this version or another version of the client has stored. */
function parseHeld(text: string | null | undefined): Held {
  const { token, renewAt } = readObject(() => text ?? "");
  if (typeof token !== "string") return receive(undefined);
  return { token, renewAt: typeof renewAt === "number" ? renewAt : Infinity };
}

/** Returns an empty object if the text is not a JSON object. */
function readObject(read: () => string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(read());
    return typeof value === "object" ? { ...value } : {};
  } catch {
    return {};
  }
}

interface Browser {
  addEventListener?(type: "storage", listener: () => void): void;
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
