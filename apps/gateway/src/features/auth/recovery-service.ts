/** Password resets and e-mail verifications, without HTTP. Mails are only written to the outbox; `mail/sender.ts` sends them. */
import type { PasswordResetConfirmation } from "@latchkey/contracts";
import type { Database } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { ServiceError } from "../../errors.ts";
import type { TokenKeys } from "../../tokens/token-keys.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { AuthRequest, Principal } from "./service.ts";

interface RecoveryServiceOptions
  extends Pick<Database, "users" | "outbox">,
    Pick<TokenKeys, "oneTimeTokens"> {
  readonly hasher: Pick<Hasher, "hash">;
  /** null: no network is familiar. */
  readonly loginThrottle: Pick<LoginThrottle, "networkDigest"> | null;
}

export type RecoveryService = ReturnType<typeof createRecoveryService>;

export function createRecoveryService(options: RecoveryServiceOptions) {
  const { users, outbox, hasher, oneTimeTokens, loginThrottle } = options;

  return {
    /** Does the same for every e-mail: whether somebody has it is decided when the mail is sent. */
    async requestReset(email: string, { audit }: AuthRequest): Promise<void> {
      await outbox.requestReset(email);
      audit("reset.requested", email);
    },

    /** @throws ONE_TIME_TOKEN_INVALID also if the user changes during the derivation */
    async confirmReset({ token, password }: PasswordResetConfirmation, request: AuthRequest): Promise<void> {
      const { signal, network, audit } = request;
      const verified = oneTimeTokens.verify(token, "reset");
      const user = verified && (await users.findById(verified.userId));
      if (!verified || !user?.isActive || !verified.isCurrent(user))
        throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      const { id, email } = user;
      const change = {
        hashedPassword: await hasher.hash(password, { signal }),
        emailVerified: true,
        networkDigest: loginThrottle?.networkDigest({ email, network }),
        notifies: true,
      };
      // What the token is bound to, so that of several confirmations only one succeeds.
      const state = { version: user.tokenVersion, tokenId: null, hashedPassword: user.hashedPassword };
      if (!(await users.update(id, change, state))) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      audit("password.reset", email, id);
    },

    async requestVerification({ user }: Principal): Promise<void> {
      if (!user.emailVerified) await outbox.requestVerification(user.id);
    },

    /** @throws ONE_TIME_TOKEN_INVALID; not if the user was deleted */
    async confirmVerification(token: string, { audit }: AuthRequest): Promise<void> {
      const verified = oneTimeTokens.verify(token, "verification");
      if (!verified) throw new ServiceError("ONE_TIME_TOKEN_INVALID");
      const user = await users.findById(verified.userId);
      if (!user || user.emailVerified) return;
      await users.update(user.id, { emailVerified: true });
      audit("email.verified", user.email, user.id);
    },
  };
}
