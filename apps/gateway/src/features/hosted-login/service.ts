/**
 * Hosted login without HTTP: a user logs in on a page of the service, and the application exchanges a code for a token of that login.
 * Nothing is stored. Invariants: a token gives a code only soon after its login and until it is revoked, and the token of the code
 * keeps the claims of the login, so that no token lives longer through a code. A code works once, as long as one store counts
 * and remembers it.
 */
import type { LoginClient } from "@latchkey/config";
import type { AuthorizationRequest, AuthorizationResponse, CodeExchangeRequest } from "@latchkey/contracts";
import type { Database, User } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { ExpectToken, VerifiedLogin } from "../../login.ts";
import type { CodeRejection } from "../../observability/audit.ts";
import { expectRecentLogin } from "../../owner.ts";
import { secondsUntil } from "../../rate-limit/clock.ts";
import { CODE_EXCHANGES } from "../../rate-limit/limits.ts";
import type { Store } from "../../rate-limit/store.ts";
import { findRedirectUri } from "../../redirect-uris.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import { CODE_LIFETIME_MS } from "../../tokens/authorization-codes.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";

interface HostedLoginOptions extends Pick<Database, "users">, Pick<TokenKeys, "authorizationCodes"> {
  readonly clients: readonly LoginClient[];
  readonly issuer: string;
  readonly expectToken: ExpectToken;
  /** Remembers which codes were used, also without rate limits. */
  readonly store: Store;
}

export interface HostedLogin {
  /** @throws LOGIN_REQUIRED, RECENT_LOGIN_REQUIRED, INVALID_REQUEST */
  authorize(principal: Principal, body: AuthorizationRequest, request: RequestContext): AuthorizationResponse;
  /** Uses the code. @throws INVALID_CLIENT, INVALID_GRANT; TOO_MANY_REQUESTS after too many of them, or too many codes of the user */
  verifyExchange(body: CodeExchangeRequest, request: RequestContext): Promise<VerifiedLogin>;
}

/** Longer than a code is valid: the clocks of replicas can differ by a minute, and a clock can be set back. */
const REMEMBERED_MS = CODE_LIFETIME_MS + 60 * 1000;

const unknown = (name: string): never => {
  const issue = { loc: ["body", name], msg: "is not configured", type: "not_configured" };
  throw new ServiceError("INVALID_REQUEST", { issues: [issue] });
};

export function createHostedLogin(options: HostedLoginOptions): HostedLogin {
  const { users, authorizationCodes, clients, issuer, expectToken, store } = options;
  // Many users can fill the memory. A used code that it forgets still needs its verifier; a right code must not count as used.
  const usedCodes = store.fixedWindow({
    name: "authorization-code",
    windowMs: REMEMBERED_MS,
    endsOldest: true,
  });
  const exchanges = store.fixedWindow(CODE_EXCHANGES);
  const findClient = (id: string) => clients.find(({ clientId }) => clientId === id);

  /** Whether the user of a code could still have the token of its login. */
  const canGetToken = async (user: User): Promise<boolean> => {
    try {
      await expectToken(user);
      return user.isActive;
    } catch (error) {
      if (error instanceof ServiceError) return false;
      throw error;
    }
  };

  /** Uses a code. Returns whether this is its first use. @throws TOO_MANY_REQUESTS, which does not use it */
  const useOnce = async (userId: number, nonce: string): Promise<boolean> => {
    const use = await usedCodes.increment(`${userId}:${nonce}`);
    if (use.count > 1) return false;
    const { count, resetsAt } = await exchanges.increment(String(userId));
    if (count <= CODE_EXCHANGES.capacity) return true;
    await use.undo();
    const retryAfterSeconds = secondsUntil(resetsAt);
    throw new ServiceError("TOO_MANY_REQUESTS", { quota: CODE_EXCHANGES.rejection, retryAfterSeconds });
  };

  return {
    authorize({ user, token }, { client_id, redirect_uri, code_challenge }, { audit }) {
      // The token that changed the password remains valid, but a code would give it a successor.
      if (token.guard.version !== user.tokenVersion) throw new ServiceError("LOGIN_REQUIRED");
      expectRecentLogin(token.login);
      const client = findClient(client_id) ?? unknown("client_id");
      if (findRedirectUri(client.redirectUris, redirect_uri) === undefined) unknown("redirect_uri");
      audit("authorization_code.issued", user.email, user.id, { client: client_id });
      const code = authorizationCodes.issue({
        userId: user.id,
        version: user.tokenVersion,
        login: token.login,
        clientId: client_id,
        redirectUri: redirect_uri,
        challenge: code_challenge,
      });
      return { code, iss: issuer };
    },

    async verifyExchange(body, request) {
      const client = findClient(body.client_id);
      /** Only rejections are counted: the server of an application exchanges the codes of all users from one address. */
      const reject = async (reason: CodeRejection, userId?: number): Promise<never> => {
        request.audit("authorization_code.rejected", null, userId, { reason, client: client?.clientId });
        await request.countAgainst("codeExchange");
        throw new ServiceError(reason === "client" ? "INVALID_CLIENT" : "INVALID_GRANT");
      };
      if (!client) return reject("client");
      const code = authorizationCodes.verify(body.code);
      if (!code?.isOf(client.clientId)) return reject("code");
      const { userId, version, login, nonce } = code;
      if (!code.isFor(body.redirect_uri)) return reject("redirect_uri", userId);
      if (!code.isVerifiedBy(body.code_verifier)) return reject("verifier", userId);
      if (!(await useOnce(userId, nonce))) return reject("used", userId);
      const user = await users.findById(userId);
      const changed = () => reject("user", userId);
      if (user?.tokenVersion !== version || !(await canGetToken(user))) return changed();
      if (user.factorId !== null && login.acr !== "2fa") return changed();
      return {
        user,
        current: { ...user, networkSeenAt: null },
        amr: login.amr,
        isTwoFactor: login.acr === "2fa",
        continues: { login, client: client.clientId },
        changed,
      };
    },
  };
}
