/**
 * Logins with OpenID Connect providers. Between the two pages, the tab keeps the verifier, without which the code in the address is
 * worth nothing. Invariant: a response is only used by the tab that has begun the login, and once.
 */
import { reasonOf, untilAborted } from "./deadline.ts";
import { toBase64url } from "./passkeys.ts";
import { createStoredLogin, type StorageOption, tabStorage } from "./storage.ts";

const MESSAGES = {
  no_login: "This tab has not begun this login, or has finished it",
  denied: "The provider did not log the user in",
};

/** The address contains no response for this tab. `cause` is the `error` of the provider, such as `access_denied`. */
export class LatchkeyOidcError extends Error {
  override readonly name = "LatchkeyOidcError";
  readonly reason: keyof typeof MESSAGES;

  constructor(reason: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

interface BegunLogin {
  readonly provider: string;
  readonly state: string;
  readonly verifier: string;
  /** The current password of the user to whom the provider is added. */
  readonly password?: string | undefined;
  readonly begunAt: number;
}

/** How long a state is valid. */
const VALID_MS = 10 * 60 * 1000;

/** Outside of browsers, the login is kept in memory. */
export function createBegunLogins(key: string, option: StorageOption = tabStorage) {
  const begun = createStoredLogin<BegunLogin>(option, key);
  /** Forgets a password that was kept for at least `ms`, with its login. */
  const forgetPassword = async (ms = 0): Promise<void> => {
    const login = await begun.read();
    if (login?.password !== undefined && Math.abs(Date.now() - login.begunAt) >= ms) await begun.write(null);
  };
  void forgetPassword(VALID_MS);

  return {
    keep: (login: Omit<BegunLogin, "begunAt">): Promise<void> =>
      begun.write({ ...login, begunAt: Date.now() }),
    forgetPassword,
    /** Forgets the login. Returns the provider, the body of the request that ends it, and the password. @throws LatchkeyOidcError */
    async take(url: string | URL) {
      const parameters = new URL(url).searchParams;
      const login = await begun.read();
      const [state, code, iss] = ["state", "code", "iss"].map((name) => parameters.get(name));
      if (!login || login.state !== state) throw new LatchkeyOidcError("no_login");
      await begun.write(null);
      if (!code) throw new LatchkeyOidcError("denied", parameters.get("error"));
      const body = { code, state, code_verifier: login.verifier, ...(iss && { iss }) };
      return { provider: login.provider, body, password: login.password };
    },
  };
}

/**
 * Calls for one address at the same time are one call, because its code works once, and React calls effects twice in its StrictMode.
 * The call is aborted when all callers have aborted.
 */
export function createSharedCall<Result>() {
  let shared: { address: string; controller: AbortController; callers: number; result: Promise<Result> };
  return async (
    address: string,
    call: (signal: AbortSignal) => Promise<Result>,
    signal?: AbortSignal | null,
  ): Promise<Result> => {
    if (signal?.aborted) throw reasonOf(signal);
    if (shared?.address !== address || shared.callers === 0) {
      const controller = new AbortController();
      shared = { address, controller, callers: 0, result: call(controller.signal) };
    }
    const current = shared;
    current.callers++;
    return await untilAborted(current.result, signal).finally(() => {
      current.callers--;
      if (current.callers === 0 && signal?.aborted) current.controller.abort(reasonOf(signal));
    });
  };
}

/** A random verifier and its S256 challenge (RFC 7636). */
export async function createChallenge() {
  const verifier = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: toBase64url(digest) };
}
