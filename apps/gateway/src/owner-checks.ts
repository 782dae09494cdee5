/** What the features of logins share: whether the owner of the account acts, and why a change was rejected. */
import type { Guard, User } from "@latchkey/database";
import type { RequestContext } from "./request-context.ts";
import type { Principal } from "./tokens/access-tokens.ts";

export interface OwnerChecks {
  /**
   * Proves that the owner makes a change. Returns the user, read again after the proof, and the condition of the change.
   * @throws CURRENT_PASSWORD_INCORRECT, or RECENT_LOGIN_REQUIRED for a user without a password
   */
  proveOwner(
    of: Principal,
    currentPassword: string | undefined,
    request: RequestContext,
  ): Promise<{ readonly user: User; readonly condition: Guard }>;
  /** @throws the reason if the user does not meet the guard any more */
  findUser(userId: number, guard: Guard): Promise<User>;
  /** @throws the reason why a conditional change was rejected */
  explainRejection(userId: number, guard: Guard): Promise<never>;
  networkDigestOf(email: string, request: RequestContext): string | undefined;
}
