/** Whose token a request has. */
import { ServiceError } from "../../errors.ts";
import type { Owner } from "../../owner.ts";
import type { Principal, Tokens } from "../../tokens/access-tokens.ts";

/** @throws INVALID_TOKEN, USER_NOT_FOUND or INACTIVE_USER, checked in this order */
export type Authenticate = (
  token: string | null,
  onSigned?: (userId: number) => void,
  options?: { readonly acceptsIdleToken: boolean },
) => Promise<Principal>;

export const createAuthentication =
  ({ verify }: Pick<Tokens, "verify">, { findUser }: Pick<Owner, "findUser">): Authenticate =>
  async (token, onSigned, options) => {
    const claims = token === null ? null : await verify(token, onSigned, options);
    if (claims === null) throw new ServiceError("INVALID_TOKEN");
    return { user: await findUser(claims.userId, claims.guard), token: claims };
  };
