/**
 * The token of the logged-in user. The tabs of a browser share it through a storage. It is renewed before it expires if it contains
 * the time of its login: the service then renews tokens. Each change is reported once.
 */
import { LatchkeyConnectionError, LatchkeyError } from "./errors.ts";

/** The part of `localStorage` that is used. */
export interface TokenStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

export interface SessionOptions {
  /** A stored token, in place of a login. @default the one in `storage` */
  readonly token?: string | undefined;
  /** Keeps the token and shares it with other tabs, for example `localStorage`. @default none: the token ends with the client */
  readonly storage?: TokenStorage | undefined;
  /**
   * Called when the stored token changes, also by a renewal or in another tab, for example to store it elsewhere. The token is
   * undefined if nobody is logged in any more.
   */
  readonly onTokenChange?: ((token: string | undefined) => void) | undefined;
}

/** The token of the user, or of nobody. */
interface Held {
  readonly token: string | undefined;
  /** In milliseconds of the local clock. Never is infinite, which JSON writes as null. */
  readonly renewAt: number;
}

/** Fractions of a lifetime: a token is renewed after the first, and a failed renewal repeated after the second. */
const RENEWAL_POINT = 0.75;
const RETRY_PAUSE = 0.05;
const MIN_PAUSE_MS = 1000;
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * @param key of the item in the storage
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

  /** Sets the timer of the next renewal, unless one is under way, which calls this at its end. */
  const schedule = (): void => {
    clearTimeout(timer);
    if (isRenewing || held.renewAt === Infinity) return;
    // Without locks, the first of several tabs usually spares the others their renewals.
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
  /** Reads what another tab has stored. Its event arrives too late if this tab was suspended. */
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
  /** Keeps the lock after the renewal, because other tabs see what this one has stored only a little later. */
  const renewAlone = (lock: unknown): Promise<void> => (lock ? renewOnce().then(pause) : pause());
  /** Sends one request, even if several callers or, where the browser has locks, several tabs need it. */
  const renewIfDue = (): void => {
    synchronize();
    if (isRenewing || held.renewAt > Date.now()) return;
    isRenewing = true;
    const { locks } = browser().navigator ?? {};
    const work = storage && locks ? locks.request(key, { ifAvailable: true }, renewAlone) : renewOnce();
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
    /** @param next undefined: nobody is logged in any more */
    store: (next: string | undefined): void => hold(receive(next)),
    /**
     * Stores what follows the token that a request sent, unless another one has replaced it, also in another tab.
     * @param next as of `store`
     */
    replace(sent: string | undefined, next: string | undefined): boolean {
      synchronize();
      if (sent === undefined || held.token !== sent) return false;
      hold(receive(next, { previous: sent }));
      return true;
    },
  };
}

/**
 * When to renew a token, by its lifetime since its receipt: the clock of the service can differ, and browsers do not show its `Date`.
 * The last token of a login expires when the previous one does: it is not renewed.
 */
function receive(token: string | undefined, { previous = "", receivedAt = Date.now() } = {}): Held {
  const { exp = 0, auth_time } = readClaims(token);
  const isLater = exp > (readClaims(previous).exp ?? 0);
  const canRenew = auth_time !== undefined && isLater && lifetimeMs(token) > 0;
  return { token, renewAt: canRenew ? receivedAt + lifetimeMs(token) * RENEWAL_POINT : Infinity };
}

/** When a token was issued, on the local clock. Another client can have received it. */
const issuedAt = (token: string): number => Math.min(Date.now(), (readClaims(token).iat ?? 0) * 1000);

function lifetimeMs(token: string | undefined): number {
  const { iat = 0, exp = 0 } = readClaims(token);
  return (exp - iat) * 1000;
}

/** Whether there is no response, or one that does not concern the token. */
const isTemporary = (error: unknown): boolean =>
  error instanceof LatchkeyConnectionError ||
  (error instanceof LatchkeyError && (error.status === 429 || error.status >= 500));

type TimeClaims = { readonly [Name in "iat" | "exp" | "auth_time"]?: number };

/** The times in a JWT (RFC 7519 §4.1); empty if the text is not a JWT. */
export function readClaims(token = ""): TimeClaims {
  const [, payload = ""] = token.split(".");
  const members = readObject(() => atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === "number"));
}

/** Reads what this client, or another version of it, has stored. */
function parseHeld(text: string | null | undefined): Held {
  const { token, renewAt } = readObject(() => text ?? "");
  if (typeof token !== "string") return receive(undefined);
  return { token, renewAt: typeof renewAt === "number" ? renewAt : Infinity };
}

/** Empty if the text is not that of a JSON object. */
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

/** The cast is safe because every member is optional: Node and Bun lack some. */
const browser = () => globalThis as unknown as Browser;

const pause = () => new Promise<void>((resolve) => unref(setTimeout(resolve, MIN_PAUSE_MS)));

/** Lets a process of Node or Bun end. The cast is safe: timers of browsers are numbers, which have no such member. */
const unref = (timer: unknown): void => (timer as { unref?(): void }).unref?.();
