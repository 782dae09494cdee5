/**
 * Password resets, e-mail verifications and e-mail changes. A request for a mail only writes to the outbox, with the same
 * statement for every e-mail address. `mail/sender.ts` later checks whether a user has the address.
 */
import type { EmailChangeRequest } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import type { OwnerChecks } from "../../owner-checks.ts";
import { EMAIL_CHANGE_REQUESTS } from "../../rate-limit/limits.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import type { Purpose } from "../../tokens/one-time-tokens.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import { passwordGuard } from "./verify-password.ts";

export interface LinkOptions
  extends Pick<Database, "users" | "outbox">,
    Pick<TokenKeys, "oneTimeTokens">,
    Pick<OwnerChecks, "proveOwner" | "explainRejection" | "networkDigestOf"> {
  readonly hasher: Pick<Hasher, "hash">;
}

export function createLinkOperations(options: LinkOptions) {
  const { users, outbox, hasher, oneTimeTokens } = options;
  const { proveOwner, explainRejection, networkDigestOf } = options;

  /** Returns the active user whom the token identifies, and the condition for the change. @throws ONE_TIME_TOKEN_INVALID */
  const redeem = async (token: string, purpose: Exclude<Purpose, "verification">) => {
    const verified = oneTimeTokens.verify(token, purpose);
    const user = verified && (await users.findById(verified.userId));
    if (!user?.isActive || !verified?.isCurrent(user)) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
    // This condition allows only one of several concurrent confirmations.
    const condition = { version: user.tokenVersion, exceptToken: null, password: passwordGuard(user) };
    return { user, condition };
  };

  return {
    async requestReset(email: string, { audit }: RequestContext): Promise<void> {
      await outbox.request("reset", email);
      audit("reset.requested", email);
    },

    /** @throws ONE_TIME_TOKEN_INVALID if the token is invalid, or if `condition` is not met after the derivation */
    async confirmReset({ token, password }: { token: string; password: string }, request: RequestContext) {
      const { signal, audit } = request;
      const { user, condition } = await redeem(token, "reset");
      const change = {
        hashedPassword: await hasher.hash(password, { signal }),
        emailVerified: true,
        networkDigest: networkDigestOf(user.email, request),
        notifies: true,
      };
      if (!(await users.update(user.id, change, condition))) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("password.reset", user.email, user.id);
    },

    async requestVerification({ user }: Principal): Promise<void> {
      if (!user.emailVerified) await outbox.request("verification", user.email);
    },

    /** Does nothing if the user was deleted. @throws ONE_TIME_TOKEN_INVALID, for example if the user has another e-mail now */
    async confirmVerification({ token }: { token: string }, { audit }: RequestContext): Promise<void> {
      const verified = oneTimeTokens.verify(token, "verification");
      if (!verified) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      const user = await users.findById(verified.userId);
      if (user && !verified.isCurrent(user)) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      if (!user || user.emailVerified) return;
      // The e-mail can have changed since the user was read.
      if (!(await users.verifyEmail(user))) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.verified", user.email, user.id);
    },

    /**
     * Has no effect, silently, if too many requests of the user had one. A request for the present e-mail cancels the change.
     * @throws the errors of `proveOwner`
     */
    async requestEmailChange(principal: Principal, change: EmailChangeRequest, request: RequestContext) {
      const { user, condition } = await proveOwner(principal, change.current_password, request);
      const outcome = await users.requestEmailChange(user, change.email, condition, {
        stateOf: (pending) => oneTimeTokens.stateOf("email-change", pending),
        capacity: EMAIL_CHANGE_REQUESTS,
      });
      if (outcome === null) return explainRejection(user.id, condition);
      request.audit(`email.change_${outcome}`, user.email, user.id);
    },

    /** Writes the mail with the link that confirms the change. @throws ONE_TIME_TOKEN_INVALID, also if the token was used */
    async approveEmailChange({ token }: { token: string }, { audit }: RequestContext): Promise<void> {
      const { user, condition } = await redeem(token, "email-change-approval");
      const state = oneTimeTokens.stateOf("email-change", user);
      if (!(await users.approveEmailChange(user, state, condition)))
        throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.change_approved", user.email, user.id);
    },

    /** @throws ONE_TIME_TOKEN_INVALID, or UserAlreadyExists if another user has the new e-mail now */
    async confirmEmailChange({ token }: { token: string }, { audit }: RequestContext): Promise<void> {
      const { user, condition } = await redeem(token, "email-change");
      const changed = await users.changeEmail(user, condition);
      if (!changed) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.changed", changed.email, changed.id);
    },
  };
}
