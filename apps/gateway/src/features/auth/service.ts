/** What users change of their own account, independent of HTTP. */
import type { UpdateUserRequest } from "@latchkey/contracts";
import { type Database, hasPassword, type User, type UserChange } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { AccountRules } from "../../config.ts";
import { ServiceError } from "../../errors.ts";
import { type Owner, passwordGuard } from "../../owner.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import type { NetworkDigestOf } from "./familiar-networks.ts";
import type { LimitUsername } from "./username-limit.ts";

interface AccountServiceOptions extends Pick<Database, "users"> {
  readonly hasher: Pick<Hasher, "hash">;
  readonly owner: Owner;
  readonly networkDigestOf: NetworkDigestOf;
  /** null: limits are disabled. */
  readonly limitUsername: LimitUsername | null;
  readonly rules: Pick<AccountRules, "sendsMail" | "requireCurrentPassword">;
}

/** A change throws an error of `findUser` if the token was revoked, or the user deactivated or deleted, since `authenticate`. */
export interface AccountService {
  /**
   * An empty change changes nothing. A new password revokes all tokens except the principal's.
   * @throws UserAlreadyExists, or an error of `proveOwner`
   * @throws INVALID_REQUEST if the request removes the language
   * @throws TOO_MANY_REQUESTS if the user has changed the username too often
   * @throws INVALID_TOKEN if the request has `password` or `current_password`, and the password changed after `authenticate`
   */
  update(principal: Principal, change: UpdateUserRequest, request: RequestContext): Promise<User>;
  /** Revokes all tokens, including the principal's. */
  revokeTokens(principal: Principal, request: RequestContext): Promise<void>;
  delete(principal: Principal, request: RequestContext): Promise<void>;
}

/** A user who has chosen a language can only choose another one. */
const UNSET_LOCALE = { loc: ["body", "locale"], msg: "cannot be removed", type: "not_allowed" };

export function createAccountService(options: AccountServiceOptions): AccountService {
  const { users, hasher, networkDigestOf, limitUsername } = options;
  const { proveOwner, expectStepUp, explainRejection } = options.owner;
  const { sendsMail, requireCurrentPassword } = options.rules;

  return {
    async update({ user, token }, change, request) {
      const { username, password, current_password: currentPassword, remove_passkeys, locale } = change;
      if (locale === null && user.locale !== null)
        throw new ServiceError("INVALID_REQUEST", { issues: [UNSET_LOCALE] });
      const { signal, network, audit } = request;
      // A rename alone does not compare the hash: the rename must not fail if the same token changes the password meanwhile.
      const derives = password !== undefined || currentPassword !== undefined;
      const condition = derives ? { ...token.guard, password: passwordGuard(user) } : token.guard;
      const isProved = hasPassword(user) ? currentPassword !== undefined || requireCurrentPassword : true;
      if (derives && isProved) await proveOwner({ user, token }, currentPassword, request);
      else if (derives) expectStepUp({ user, token });
      const { email } = user;
      const makeChange = async () => {
        const values: UserChange = {
          ...(username !== undefined && { username }),
          locale: locale ?? undefined,
          ...(password !== undefined && {
            hashedPassword: await hasher.hash(password, { signal }),
            passwordChangeTokenId: token.guard.exceptToken,
            notifies: sendsMail,
            keepsPasskeys: !remove_passkeys,
            keptNetworkDigest:
              currentPassword === undefined ? undefined : networkDigestOf({ email, network }),
          }),
        };
        return (await users.update(user.id, values, condition)) ?? explainRejection(user.id, condition);
      };
      const updated = await (limitUsername ? limitUsername(user, username, makeChange) : makeChange());
      if (password !== undefined) audit("password.changed", user.email, user.id);
      else if (username !== undefined || locale) audit("user.updated", user.email, user.id);
      return updated;
    },

    async revokeTokens({ user, token }, { audit }) {
      if (!(await users.revokeTokens(user.id, token.guard))) await explainRejection(user.id, token.guard);
      audit("tokens.revoked", user.email, user.id);
    },

    async delete({ user, token }, { audit }) {
      expectStepUp({ user, token });
      const isDeleted = await users.delete(user.id, token.guard, { notifies: sendsMail });
      if (!isDeleted) await explainRejection(user.id, token.guard);
      audit("user.deleted", user.email, user.id);
    },
  };
}
