/** Exchanges a token for a new one of the same login. */
import { ServiceError } from "../../errors.ts";
import type { ExpectToken } from "../../login.ts";
import type { Principal, Tokens } from "../../tokens/access-tokens.ts";

/**
 * The token that made the latest password change stays valid until `exp`, but cannot be renewed, because an attacker could renew
 * a stolen copy.
 * @throws LOGIN_REQUIRED, or an error of the rule
 */
export type Renew = (principal: Principal) => Promise<string>;

export const createRenewal =
  (tokens: Pick<Tokens, "renew">, expectToken: ExpectToken): Renew =>
  async ({ user, token }) => {
    await expectToken(user);
    const isCurrent = token.guard.version === user.tokenVersion;
    const renewed = isCurrent ? await tokens.renew(user, token.login) : null;
    if (renewed === null) throw new ServiceError("LOGIN_REQUIRED");
    return renewed;
  };
