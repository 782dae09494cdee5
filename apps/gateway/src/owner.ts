/** Whether the owner of an account acts, and why a change was rejected. Features that change an account share it. */
import {
  type AuthenticatedUser,
  type Database,
  type Guard,
  hasPassword,
  isRevoked,
  type PasswordGuard,
  validImportedHash,
} from "@latchkey/database";
import { ServiceError } from "./errors.ts";
import type { VerifyPassword } from "./features/auth/verify-password.ts";
import type { WrongPasswordLimit } from "./features/auth/wrong-password-limit.ts";
import type { RequestContext } from "./request-context.ts";
import { currentSeconds, type Principal } from "./tokens/access-tokens.ts";
import type { LoginClaims } from "./tokens/authentication-methods.ts";

interface OwnerOptions extends Pick<Database, "users"> {
  readonly verifyPassword: VerifyPassword;
  /** null: wrong values of `current_password` are not limited. */
  readonly wrongPasswordLimit: WrongPasswordLimit | null;
  /** Whether what a thief of a token could do with the account requires a proof of the owner. */
  readonly requireCurrentPassword: boolean;
  readonly sendsMail: boolean;
}

/** A user, read again, and the condition of the change that the user may make. */
interface ProvedOwner {
  readonly user: AuthenticatedUser;
  readonly condition: Guard;
}

interface ProofOptions {
  /** Whether the operation also verifies a code of the second factor, which a user without a password sends alone. @default false */
  readonly takesCode?: boolean;
}

export interface Owner {
  /**
   * Proves that the owner makes a change: with the password or, for a user without a password, with a recent login. Returns the user,
   * read again, and the condition of the change. A user with a second factor also needs a recent login, unless the request has a code.
   * @throws CURRENT_PASSWORD_INCORRECT, RECENT_LOGIN_REQUIRED, TOO_MANY_REQUESTS, or an error of `findUser`
   * @throws INVALID_REQUEST if the user has a password and the request does not
   */
  proveOwner(
    of: Principal,
    currentPassword: string | undefined,
    request: RequestContext,
    options?: ProofOptions,
  ): Promise<ProvedOwner>;
  /**
   * Proves that the owner removes a way to log in.
   * @param body null: the operation of release 2.0, which has none
   * @throws OWNER_PROOF_REQUIRED if the configuration requires a proof and the operation has none, or an error of `proveOwner`
   */
  proveRemoval(
    of: Principal,
    body: { readonly current_password?: string } | null,
    request: RequestContext,
  ): Promise<ProvedOwner>;
  /** @throws RECENT_LOGIN_REQUIRED if the user has a second factor and the login is not recent */
  expectStepUp(of: Principal): void;
  /**
   * What a user who adds a way to log in needs: otherwise, the owner of the e-mail would not know of it.
   * @throws EMAIL_NOT_VERIFIED if mail is configured and the user has not proved the e-mail
   */
  expectOwnMailbox(user: Pick<AuthenticatedUser, "emailVerified">): void;
  /** @throws USER_NOT_FOUND, INVALID_TOKEN or INACTIVE_USER, checked in this order, if the user does not meet the guard any more */
  findUser(userId: number, guard: Guard): Promise<AuthenticatedUser>;
  /** @throws the reason why a conditional change was rejected: an error of `findUser` */
  explainRejection(userId: number, guard: Guard): Promise<never>;
}

/** A login is recent for so long. */
const RECENT_LOGIN_SECONDS = 5 * 60;
/** The clock of the replica that issued the token can be ahead. */
const CLOCK_DIFFERENCE_SECONDS = 60;

/** The issue of a request without the password of a user who has one, as the validator writes it. */
const MISSING_PASSWORD = { loc: ["body", "current_password"], msg: "is required", type: "missing" };

/** Returns the condition that the password has not changed since `user` was read. A rehash at login is not a change. */
export const passwordGuard = (user: AuthenticatedUser): PasswordGuard => ({
  hash: user.hashedPassword,
  importedVersion: validImportedHash(user) === null ? undefined : user.tokenVersion,
});

export function createOwner(options: OwnerOptions): Owner {
  const { users, verifyPassword, wrongPasswordLimit, requireCurrentPassword, sendsMail } = options;

  const findUser: Owner["findUser"] = async (userId, guard) => {
    const user = await users.findAuthenticated(userId);
    if (!user) throw new ServiceError("USER_NOT_FOUND");
    if (isRevoked(guard, user)) throw new ServiceError("INVALID_TOKEN");
    if (!user.isActive) throw new ServiceError("INACTIVE_USER");
    return user;
  };

  /**
   * Verifies `current_password`. Returns the user, read again after the verification.
   * @throws CURRENT_PASSWORD_INCORRECT, TOO_MANY_REQUESTS after too many wrong values, or an error of `findUser`
   */
  const verifyCurrentPassword = async (
    { user, token }: Principal,
    password: string,
    request: RequestContext,
  ) => {
    const verify = (mismatched?: () => void) => verifyPassword(user, password, request, mismatched);
    const matches = await (wrongPasswordLimit?.verify(user, verify) ?? verify()).catch((error) => {
      if (error instanceof ServiceError && error.code === "TOO_MANY_REQUESTS")
        request.audit("password.limited", user.email, user.id);
      throw error;
    });
    // If the token was revoked during the derivation, the client must not learn the result.
    const current = await findUser(user.id, { ...token.guard, password: passwordGuard(user) });
    if (matches) return current;
    request.audit("password.rejected", user.email, user.id);
    throw new ServiceError("CURRENT_PASSWORD_INCORRECT");
  };

  const proveOwner: Owner["proveOwner"] = async (
    principal,
    password,
    request,
    { takesCode = false } = {},
  ) => {
    const { user, token } = principal;
    const needsPassword = hasPassword(user);
    if (needsPassword && password === undefined)
      throw new ServiceError("INVALID_REQUEST", { issues: [MISSING_PASSWORD] });
    const provesFactor = takesCode && user.factorId !== null;
    if (!provesFactor) expectStepUp(principal);
    if (!needsPassword || password === undefined) {
      if (!provesFactor) expectRecentLogin(token.login);
      return { user, condition: { ...token.guard, password: passwordGuard(user) } };
    }
    const current = await verifyCurrentPassword(principal, password, request);
    return { user: current, condition: { ...token.guard, password: passwordGuard(current) } };
  };

  return {
    findUser,

    async explainRejection(userId, guard) {
      await findUser(userId, guard);
      // The user was inactive when the change was rejected, but has been activated since.
      throw new ServiceError("INACTIVE_USER");
    },

    expectStepUp,

    expectOwnMailbox({ emailVerified }) {
      if (sendsMail && !emailVerified) throw new ServiceError("EMAIL_NOT_VERIFIED");
    },

    proveOwner,

    async proveRemoval(principal, body, request) {
      if (body !== null) return proveOwner(principal, body.current_password, request);
      if (requireCurrentPassword) throw new ServiceError("OWNER_PROOF_REQUIRED");
      expectStepUp(principal);
      return { user: principal.user, condition: principal.token.guard };
    },
  };
}

function expectStepUp({ user, token }: Principal): void {
  if (user.factorId !== null) expectRecentLogin(token.login);
}

/** @throws RECENT_LOGIN_REQUIRED if the login is older than five minutes */
export function expectRecentLogin({ auth_time = 0 }: LoginClaims): void {
  const age = currentSeconds() - auth_time;
  if (age < -CLOCK_DIFFERENCE_SECONDS || age > RECENT_LOGIN_SECONDS)
    throw new ServiceError("RECENT_LOGIN_REQUIRED");
}
