/**
 * Logins on the pages of the service, as an OAuth client. Between the two pages, the tab keeps the verifier, without which the code in
 * the address is worth nothing. Invariant: a response is only used by the tab that has begun the login, and once.
 */
import { createStoredLogin, type StorageOption, tabStorage } from "./storage.ts";

const MESSAGES = {
  no_login: "This tab has not begun this login, or has finished it",
  denied: "The page did not log the user in",
};

/** The address contains no response for this tab. `cause` is the `error` of the page, such as `invalid_request`. */
export class LatchkeyHostedLoginError extends Error {
  override readonly name = "LatchkeyHostedLoginError";
  readonly reason: keyof typeof MESSAGES;

  constructor(reason: keyof typeof MESSAGES, cause?: unknown) {
    super(MESSAGES[reason], { cause });
    this.reason = reason;
  }
}

interface BegunHostedLogin {
  readonly clientId: string;
  readonly redirectUri: string;
  readonly state: string;
  readonly verifier: string;
}

/** Outside of browsers, the login is kept in memory. */
export function createBegunHostedLogin(key: string, option: StorageOption = tabStorage) {
  const begun = createStoredLogin<BegunHostedLogin>(option, key);
  return {
    keep: (login: BegunHostedLogin): Promise<void> => begun.write(login),
    /** Forgets the login. Returns the parameters of the request that ends it. @throws LatchkeyHostedLoginError */
    async take(url: string | URL) {
      const parameters = new URL(url).searchParams;
      const login = await begun.read();
      if (!login || login.state !== parameters.get("state")) throw new LatchkeyHostedLoginError("no_login");
      await begun.write(null);
      const code = parameters.get("code");
      if (!code) throw new LatchkeyHostedLoginError("denied", parameters.get("error"));
      return {
        grant_type: "authorization_code" as const,
        client_id: login.clientId,
        redirect_uri: login.redirectUri,
        code,
        code_verifier: login.verifier,
      };
    },
  };
}
