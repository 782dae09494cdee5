/** Whose token a request has. */
import { ServiceError } from "../../errors.ts";
import type { Owner } from "../../owner.ts";
import type { Principal, Tokens } from "../../tokens/access-tokens.ts";

/**
 * @throws INVALID_TOKEN, USER_NOT_FOUND, INVALID_TOKEN or INACTIVE_USER, checked in this order
 * @throws LOGIN_REQUIRED if the user has a second factor that the login of the token lacked
 */
export type Authenticate = (
  token: string | null,
  onSigned?: (userId: number) => void,
  options?: { readonly acceptsIdleToken: boolean },
) => Promise<Principal>;

export const createAuthentication =
  ({ verify }: Pick<Tokens, "verify">, { findUser }: Pick<Owner, "findUser">): Authenticate =>
  async (token, onSigned, options) => {
    const verified = token === null ? null : verify(token, onSigned, options);
    const claims = verified instanceof Promise ? await verified : verified;
    if (claims === null) throw new ServiceError("INVALID_TOKEN");
    const user = await findUser(claims.userId, claims.guard);
    if (user.factorId !== null && claims.login.acr !== "2fa") throw new ServiceError("LOGIN_REQUIRED");
    return { user, token: claims };
  };
