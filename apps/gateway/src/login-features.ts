/**
 * What the features of logins share: the last step of every login, whether the owner of the account acts, and why a change was
 * rejected. `features/auth/service.ts` implements `LoginSteps`.
 */
import type { Guard, PasswordGuard, User } from "@latchkey/database";
import { validImportedHash } from "@latchkey/hashing";
import type { ErrorCode } from "./errors.ts";
import type { AuditEvent } from "./observability/audit.ts";
import type { RequestContext } from "./request-context.ts";
import type { AuthenticationMethods, Principal } from "./tokens/access-tokens.ts";

/** How a login was completed. */
export interface LoginCompletion {
  /** The methods of the claim `amr`. @default none, as for identities: RFC 8176 has no value for them */
  readonly amr?: AuthenticationMethods;
  /** Replaces `login.succeeded` if the login also changed the user. */
  readonly event?: AuditEvent | undefined;
  /** The name of the OpenID Connect provider. */
  readonly provider?: string;
  /** The error if the user was deleted, or got another e-mail, after the login was verified. */
  readonly rejection: ErrorCode;
}

export interface LoginSteps {
  /**
   * Returns an access token for a user who was authenticated at this `tokenVersion`.
   * @throws the rejection, EMAIL_NOT_VERIFIED if the configuration requires it, or INACTIVE_USER if other services verify tokens
   */
  completeLogin(
    user: Pick<User, "id" | "email" | "tokenVersion">,
    completion: LoginCompletion,
    request: RequestContext,
  ): Promise<string>;
  /**
   * Proves that the owner makes a change: with the password or, for a user without a password, with a recent login. Returns the user,
   * read again, and the condition of the change.
   * @throws CURRENT_PASSWORD_INCORRECT, RECENT_LOGIN_REQUIRED, TOO_MANY_REQUESTS, or an error of `findUser`
   * @throws INVALID_REQUEST if the user has a password and the request does not
   */
  proveOwner(
    of: Principal,
    currentPassword: string | undefined,
    request: RequestContext,
  ): Promise<{ readonly user: User; readonly condition: Guard }>;
  /** @throws USER_NOT_FOUND, INVALID_TOKEN or INACTIVE_USER, checked in this order, if the user does not meet the guard any more */
  findUser(userId: number, guard: Guard): Promise<User>;
  /** @throws the reason why a conditional change was rejected: an error of `findUser` */
  explainRejection(userId: number, guard: Guard): Promise<never>;
  networkDigestOf(email: string, request: RequestContext): string | undefined;
}

/** Returns the condition that the password has not changed since `user` was read. A rehash at login is not a change. */
export const passwordGuard = (user: User): PasswordGuard => ({
  hash: user.hashedPassword,
  importedVersion: validImportedHash(user) === null ? undefined : user.tokenVersion,
});
