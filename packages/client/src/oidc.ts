/**
 * Logins with OpenID Connect providers. Between the two pages, the tab keeps the verifier, without which the code in the address is
 * worth nothing. Invariant: a response is only used by the tab that has begun the login, and once.
 */
import { toBase64url } from "./passkeys.ts";
import { createStoredText, type StorageOption } from "./storage.ts";

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
}

/** The tab's storage, or none outside of browsers. Then the login is kept in memory. */
const tabStorage: StorageOption = () => globalThis.sessionStorage;

export function createBegunLogins(key: string, option: StorageOption = tabStorage) {
  const stored = createStoredText(option, key);
  let begun: BegunLogin | null = null;

  return {
    async keep(login: BegunLogin): Promise<void> {
      begun = login;
      await stored.write(JSON.stringify(login));
    },
    /** Forgets the login. Returns the provider, and the body of the request that ends it. @throws LatchkeyOidcError */
    async take(url: string | URL) {
      const parameters = new URL(url).searchParams;
      const text = begun ? null : await stored.read();
      const login: BegunLogin | null = begun ?? (text ? JSON.parse(text) : null);
      const [state, code, iss] = ["state", "code", "iss"].map((name) => parameters.get(name));
      if (!login || login.state !== state) throw new LatchkeyOidcError("no_login");
      begun = null;
      await stored.write(null);
      if (!code) throw new LatchkeyOidcError("denied", parameters.get("error"));
      const body = { code, state, code_verifier: login.verifier, ...(iss && { iss }) };
      return { provider: login.provider, body };
    },
  };
}

/** A random verifier and its S256 challenge (RFC 7636). */
export async function createChallenge() {
  const verifier = toBase64url(crypto.getRandomValues(new Uint8Array(32)));
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier));
  return { verifier, challenge: toBase64url(digest) };
}
