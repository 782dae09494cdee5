/**
 * Password resets, e-mail verifications and e-mail changes. A request for a mail only writes to the outbox, with the same
 * statement for every e-mail address. `mail/sender.ts` later checks whether a user has the address.
 */
import type { EmailChangeRequest } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import { type Owner, passwordGuard } from "../../owner.ts";
import { EMAIL_CHANGE_REQUESTS } from "../../rate-limit/limits.ts";
import type { RequestContext } from "../../request-context.ts";
import type { Principal } from "../../tokens/access-tokens.ts";
import type { Purpose } from "../../tokens/one-time-tokens.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import type { NetworkDigestOf } from "./familiar-networks.ts";

interface LinkServiceOptions extends Pick<Database, "users" | "outbox">, Pick<TokenKeys, "oneTimeTokens"> {
  readonly owner: Pick<Owner, "proveOwner" | "explainRejection">;
  readonly networkDigestOf: NetworkDigestOf;
  readonly hasher: Pick<Hasher, "hash">;
}

/** Requests for mails, and confirmations with the token of a link, which throw ONE_TIME_TOKEN_INVALID. */
export interface LinkService {
  requestReset(email: string, request: RequestContext): Promise<void>;
  confirmReset(confirmation: { token: string; password: string }, request: RequestContext): Promise<void>;
  requestVerification(principal: Principal): Promise<void>;
  /** Does nothing if the user was deleted. */
  confirmVerification(confirmation: { token: string }, request: RequestContext): Promise<void>;
  /**
   * Has no effect, silently, if too many requests of the user had one. A request for the present e-mail cancels the change.
   * @throws the errors of `proveOwner`
   */
  requestEmailChange(of: Principal, change: EmailChangeRequest, request: RequestContext): Promise<void>;
  /** Writes the mail with the link that confirms the change. */
  approveEmailChange(approval: { token: string }, request: RequestContext): Promise<void>;
  /** @throws UserAlreadyExists if another user has the new e-mail now */
  confirmEmailChange(confirmation: { token: string }, request: RequestContext): Promise<void>;
}

export function createLinkService(options: LinkServiceOptions): LinkService {
  const { users, outbox, hasher, oneTimeTokens, networkDigestOf } = options;
  const { proveOwner, explainRejection } = options.owner;

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
    async requestReset(email, { audit, network }) {
      await outbox.request("reset", email, { networkDigest: networkDigestOf({ email, network }) });
      audit("reset.requested", email);
    },

    async confirmReset({ token, password }, request) {
      const { signal, network, audit } = request;
      const { user, condition } = await redeem(token, "reset");
      const change = {
        hashedPassword: await hasher.hash(password, { signal }),
        emailVerified: true,
        endsUnverifiedFactor: true,
        networkDigest: networkDigestOf({ email: user.email, network }),
        notifies: true,
      };
      // The user can have changed during the derivation.
      if (!(await users.update(user.id, change, condition))) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("password.reset", user.email, user.id);
    },

    async requestVerification({ user }) {
      if (!user.emailVerified) await outbox.request("verification", user.email);
    },

    async confirmVerification({ token }, { audit }) {
      const verified = oneTimeTokens.verify(token, "verification");
      if (!verified) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      const user = await users.findById(verified.userId);
      if (user && !verified.isCurrent(user)) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      if (!user || user.emailVerified) return;
      // The e-mail can have changed since the user was read.
      if (!(await users.verifyEmail(user))) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.verified", user.email, user.id);
    },

    async requestEmailChange(principal, change, request) {
      const { user, condition } = await proveOwner(principal, change.current_password, request);
      const outcome = await users.requestEmailChange(user, change.email, condition, {
        stateOf: (pending) => oneTimeTokens.bindingDigestOf("email-change", pending),
        capacity: EMAIL_CHANGE_REQUESTS,
      });
      if (outcome === null) return explainRejection(user.id, condition);
      request.audit(`email.change_${outcome}`, user.email, user.id);
    },

    async approveEmailChange({ token }, { audit }) {
      const { user, condition } = await redeem(token, "email-change-approval");
      const bindingDigest = oneTimeTokens.bindingDigestOf("email-change", user);
      if (!(await users.approveEmailChange(user, bindingDigest, condition)))
        throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.change_approved", user.email, user.id);
    },

    async confirmEmailChange({ token }, { audit }) {
      const { user, condition } = await redeem(token, "email-change");
      const changed = await users.changeEmail(user, condition);
      if (!changed) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("email.changed", changed.email, changed.id);
    },
  };
}
