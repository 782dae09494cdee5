/**
 * Holds the token of the logged-in user. Tabs of a browser share the token through `storage`. Each change of the token is
 * reported once. A token with the claim `auth_time` is renewed before the token expires, or when it is next needed. A service that
 * sets the claim but renews no tokens rejects the first attempt, and the token is kept until it expires.
 */
import { isSameLogin, issuedAt, lifetimeMs, readClaims, readObject } from "./claims.ts";
import { untilAborted } from "./deadline.ts";
import { LatchkeyError } from "./errors.ts";
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
   * is undefined if no user is logged in. If it returns a promise, the method that changed the token waits for it, and so does a
   * request during whose execution the token was renewed.
   */
  readonly onTokenChange?: ((token: string | undefined) => unknown) | undefined;
  /**
   * Whether a token that has expired is renewed, which only a service with idle renewal accepts. False for a page whose storage
   * returns with a reopened tab. @default true
   */
  readonly renewsExpiredTokens?: boolean | undefined;
}

/** The token of the logged-in user; undefined if no user is logged in. */
interface Held {
  readonly token: string | undefined;
  /** Milliseconds since the epoch, on the local clock, as `expiresAt`. `Infinity` means never, and is null in JSON. */
  readonly renewAt: number;
  readonly expiresAt: number;
}

/** Fractions of a token's lifetime: the time from receipt to renewal, and the pause after a failed renewal. */
const RENEWAL_POINT = 0.75;
const RETRY_PAUSE = 0.05;
const MIN_PAUSE_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;
/** A tab that was stopped can keep the lock. After so many attempts, a tab renews without the lock. */
const MAX_LOCK_ATTEMPTS = 10;

/** @param renew requests a new token and passes it to `replace` */
export function createSession(
  { token, storage, onTokenChange, renewsExpiredTokens = true }: SessionOptions,
  key: string,
  renew: () => Promise<unknown>,
) {
  const stored = createStoredText(storage, key);
  let held = receive(undefined);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether the timer of the renewal has fired. Unlike the clock, nobody sets a timer back. */
  let isTimeUp = false;
  let isRenewing = false;
  /** The renewal in progress, or the last one. */
  let renewal: { readonly sent: string | undefined; readonly end: Promise<void> } | undefined;
  /** The last call of `onTokenChange`. */
  let report: { readonly before: string | undefined; readonly end: unknown } | undefined;
  let isPaused = false;
  let lockAttempts = 0;
  /** Requests that wait for the renewal. Each gets the error of the renewal. */
  const waiting = new Set<(error?: unknown) => void>();
  let isClosed = false;
  let isLoaded = false;
  /** Until asynchronous storage was read. */
  let loading: Promise<void> | undefined;

  /** @param fraction of the lifetime between the receipt and `time` */
  const isOver = (time: number, fraction: number): boolean => {
    const remainingMs = time - Date.now();
    // The clock was set back if more time remains than at the receipt.
    const isTooLong = remainingMs > lifetimeMs(held.token) * fraction + MIN_PAUSE_MS;
    return held.renewAt !== Infinity && (isTooLong || remainingMs <= 0);
  };
  const canRenew = (): boolean =>
    held.renewAt !== Infinity && (renewsExpiredTokens || !isOver(held.expiresAt, 1));
  const isDue = (): boolean =>
    canRenew() && (isTimeUp || waiting.size > 0 || isOver(held.renewAt, RENEWAL_POINT));
  const endWaiting = (error?: unknown): void => {
    for (const end of waiting) end(error);
    waiting.clear();
  };
  /** Sets the timer of the next renewal. Sets no timer during a renewal, because `renewIfDue` calls `schedule` afterwards. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (isClosed || isPaused || isRenewing || !canRenew()) return;
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
    const before = held.token;
    const isOther = before !== next.token;
    if (!isOther && held.renewAt === next.renewAt) return;
    held = next;
    isTimeUp = false;
    if (isOther && next.token !== undefined) endWaiting();
    schedule();
    if (isOther) report = { before, end: onTokenChange?.(held.token) };
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
  /** Returns the token that any tab has stored last. */
  const current = async (): Promise<string | undefined> => {
    const reading = load();
    if (reading) await reading;
    synchronize();
    return held.token;
  };

  const renewOnce = async (): Promise<void> => {
    synchronize();
    const sent = held.token;
    lockAttempts = 0;
    if (!isDue()) return;
    await renew().then(
      () => endWaiting(),
      (error) => {
        synchronize();
        const canRepeat = isTemporary(error);
        if (held.token === sent) {
          const pauseMs = Math.max(MIN_PAUSE_MS, lifetimeMs(sent) * RETRY_PAUSE);
          hold({ ...held, renewAt: canRepeat ? Date.now() + pauseMs : Infinity });
        }
        // Without a renewal, the request shows whether the service still accepts the token.
        endWaiting(canRepeat || held.token === undefined ? error : undefined);
      },
    );
  };
  /** Keeps the lock for a moment after the renewal, because other tabs see the stored token only a little later. */
  const renewAlone = (lock: unknown): Promise<void> =>
    lock || lockAttempts++ >= MAX_LOCK_ATTEMPTS ? renewOnce().then(pause) : pause();
  /** Sends only one request for all callers. If the browser has locks, all tabs together send only one request. */
  const renewIfDue = (): void => {
    synchronize();
    if (isRenewing || !isDue() || ((isClosed || isPaused) && waiting.size === 0)) return;
    isRenewing = true;
    const sent = held.token;
    const { locks } = browser().navigator ?? {};
    const work =
      stored.isShared && locks
        ? locks.request(key, { ifAvailable: true }, renewAlone).catch(renewOnce)
        : renewOnce();
    const end = work.finally(() => {
      isRenewing = false;
      // Another tab can have ended the login.
      if (!isDue()) endWaiting();
      if (waiting.size > 0) renewIfDue();
      else schedule();
    });
    renewal = { sent, end };
  };
  /**
   * Waits until this tab or another tab has replaced `sent`. Returns undefined if there is no renewal of `sent`.
   * @throws the error of the renewal if it ended the login or is temporary. @throws the signal's reason
   */
  const renewalOf = async (
    sent: string | undefined,
    signal?: AbortSignal | null,
  ): Promise<string | undefined> => {
    synchronize();
    if (held.token === sent && canRenew() && !isClosed) {
      const renewal = new Promise<unknown>((resolve) => waiting.add(resolve));
      renewIfDue();
      const error = await untilAborted(renewal, signal);
      if (error !== undefined) throw error;
    }
    return held.token !== sent && isSameLogin(held.token, sent) ? held.token : undefined;
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
    renewIfDue,
    renewalOf,
    current,
    /** Returns the renewal of a token that has expired by the local clock; otherwise `token`. @throws as `renewalOf` */
    async fresh(token: string | undefined, signal?: AbortSignal | null): Promise<string | undefined> {
      return isOver(held.expiresAt, 1) ? ((await renewalOf(token, signal)) ?? token) : token;
    },
    /** Waits for a renewal that is due, unless it fails and the token has not expired. @throws as `renewalOf` */
    async renewed(token: string | undefined, signal?: AbortSignal | null): Promise<void> {
      if (!isDue() && !isOver(held.expiresAt, 1)) return;
      await renewalOf(token, signal).catch((error) => {
        if (signal?.aborted || held.token !== token || isOver(held.expiresAt, 1)) throw error;
      });
    },
    /**
     * Waits until the application knows the token that has replaced `sent`. Tabs that share the token do not wait for a renewal in
     * progress. A renewal must not call it, because it would wait for itself.
     */
    async reported(sent: string | undefined): Promise<void> {
      if (renewal?.sent === sent && !stored.isShared) await renewal?.end;
      if (report?.before === sent) await report?.end;
    },
    /** Runs `work` without any renewal for which no request waits. */
    async withoutRenewal<Result>(work: () => Promise<Result>): Promise<Result> {
      isPaused = true;
      return await work().finally(() => {
        isPaused = false;
        schedule();
      });
    },
    /** Keeps `token` without renewals, until the service rejects it. */
    keep(token: string | undefined): void {
      if (held.token === token) hold({ ...held, renewAt: Infinity });
    },
    /** @param next undefined: no user is logged in @returns when storage and application have the token */
    store(next: string | undefined): Promise<unknown> {
      const written = hold(receive(next));
      return Promise.all([written, report?.end]);
    },
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
    /** Forgets the stored token if it is `sent` or a renewal of `sent`. */
    async endLogin(sent: string | undefined): Promise<void> {
      synchronize();
      if (held.token !== sent && !isSameLogin(held.token, sent)) return;
      hold(receive(undefined));
      await report?.end;
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
  const after = (fraction: number) => (canRenew ? receivedAt + lifetimeMs(token) * fraction : Infinity);
  return { token, renewAt: after(RENEWAL_POINT), expiresAt: after(1) };
}

/** Whether there is no response, or one that does not concern the token or is not from the service. */
const isTemporary = (error: unknown): boolean =>
  !(error instanceof LatchkeyError) ||
  error.status === 429 ||
  error.status >= 500 ||
  error.code === undefined;

/** Parses text that this version or another version of the client has stored. Release 2.0.0 stored no `expiresAt`. */
function parseHeld(text: string | null | undefined): Held {
  const { token, renewAt, expiresAt } = readObject(() => text ?? "");
  if (typeof token !== "string") return receive(undefined);
  const time = typeof renewAt === "number" ? renewAt : Infinity;
  const end = typeof expiresAt === "number" ? expiresAt : time + lifetimeMs(token) * (1 - RENEWAL_POINT);
  return { token, renewAt: time, expiresAt: end };
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
