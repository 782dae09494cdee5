/** Verifies e-mail and password. Unknown e-mails cost the same as wrong passwords. */
import type { LoginRequest } from "@latchkey/contracts";
import { type Database, hasGuardedPassword, hasPassword } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";
import type { VerifiedLogin } from "../../login.ts";
import { passwordGuard } from "../../owner.ts";
import type { RequestContext } from "../../request-context.ts";
import type { FamiliarNetworks } from "./familiar-networks.ts";
import type { VerifyPassword } from "./verify-password.ts";
import type { WrongPasswordLimit } from "./wrong-password-limit.ts";

interface PasswordLoginOptions extends Pick<Database, "users"> {
  readonly verifyPassword: VerifyPassword;
  /** null: logins are not limited per e-mail, and their networks are not stored. */
  readonly familiarNetworks: FamiliarNetworks | null;
  readonly wrongPasswordLimit: WrongPasswordLimit | null;
}

/** @throws TOO_MANY_REQUESTS, INVALID_CREDENTIALS */
export type VerifyPasswordLogin = (
  credentials: LoginRequest,
  request: RequestContext,
) => Promise<VerifiedLogin>;

export const createPasswordLogin =
  (options: PasswordLoginOptions): VerifyPasswordLogin =>
  async ({ email, password }, request) => {
    const { users, verifyPassword, familiarNetworks, wrongPasswordLimit } = options;
    const { network, audit } = request;
    const deduct = familiarNetworks?.beginLogin(email);
    const user = await users.findByEmail(email, familiarNetworks?.networkDigestOf({ email, network }));
    const networkSeenAt = user?.networkSeenAt ?? null;
    await deduct?.(networkSeenAt).catch((error) => {
      audit("login.limited", email, user?.id);
      throw error;
    });
    const changed = async () => {
      const reason = user && !hasPassword(user) ? "no_password" : undefined;
      audit("login.failed", email, user?.id, { reason });
      throw new ServiceError("INVALID_CREDENTIALS");
    };
    const matches = await verifyPassword(user, password, request);
    // The user can change during the derivation. The query runs for unknown e-mails as well: the timing must be equal.
    const current = await users.findByEmail(email);
    if (!user || !matches || current?.id !== user.id || !hasGuardedPassword(current, passwordGuard(user)))
      return changed();
    const run = async () => {
      await wrongPasswordLimit?.clear(current);
      return current;
    };
    return { user: current, current: { ...current, networkSeenAt }, amr: ["pwd"], commit: { run }, changed };
  };
