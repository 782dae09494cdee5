/**
 * Registration, login and the current user, independent of HTTP. The database enforces that e-mails and usernames are unique.
 * The hasher runs all derivations.
 */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import {
  type Database,
  hasGuardedPassword,
  isLoginStale,
  isRevoked,
  type Timestamp,
  type User,
  UserAlreadyExists,
} from "@latchkey/database";
import { type Hasher, hasPassword } from "@latchkey/hashing";
import type { AccountRules } from "../../config.ts";
import { LoggedError, ServiceError } from "../../errors.ts";
import { type LoginCompletion, type LoginSteps, passwordGuard } from "../../login-features.ts";
import type { RequestContext } from "../../request-context.ts";
import type { LoginClaims, Principal, Tokens } from "../../tokens/access-tokens.ts";
import type { FamiliarNetworks } from "./familiar-networks.ts";
import { createPasswordVerifier } from "./verify-password.ts";
import type { WrongPasswordLimit } from "./wrong-password-limit.ts";

interface AuthServiceOptions extends Pick<Database, "users" | "outbox"> {
  readonly hasher: Pick<Hasher, "hash" | "verify" | "verifyImported">;
  /** null: logins are not limited per e-mail. */
  readonly familiarNetworks: FamiliarNetworks | null;
  readonly tokens: Tokens;
  /** null: wrong values of `current_password` are not limited. */
  readonly wrongPasswordLimit: WrongPasswordLimit | null;
  readonly rules: AccountRules;
  /** Whether other services verify tokens without reading the user. If true, inactive users get no tokens. */
  readonly isVerifiedElsewhere: boolean;
}

/** A change throws an error of `findUser` if the token was revoked, or the user deactivated or deleted, since `authenticate`. */
export interface AuthService extends LoginSteps {
  /** @throws UserAlreadyExists */
  register(user: RegisterRequest, request: RequestContext): Promise<User>;
  /**
   * Returns an access token. `authenticate` rejects the token of an inactive user.
   * @throws TOO_MANY_REQUESTS, INVALID_CREDENTIALS, or INACTIVE_USER if `isVerifiedElsewhere`
   */
  login(credentials: LoginRequest, request: RequestContext): Promise<string>;
  /**
   * Returns a new token of the same login. The token that made the latest password change stays valid until `exp`, but cannot
   * be renewed, because an attacker could renew a stolen copy.
   * @throws LOGIN_REQUIRED, or EMAIL_NOT_VERIFIED if the configuration requires a verified e-mail
   */
  renew(principal: Principal): Promise<string>;
  /** @throws INVALID_TOKEN, USER_NOT_FOUND or INACTIVE_USER, checked in this order */
  authenticate(
    token: string | null,
    onSigned?: (userId: number) => void,
    options?: { readonly acceptsIdleToken: boolean },
  ): Promise<Principal>;
  /**
   * An empty change changes nothing. A new password revokes all tokens except the principal's.
   * @throws UserAlreadyExists, or an error of `proveOwner`
   * @throws INVALID_TOKEN if the request has `password` or `current_password`, and the password changed after `authenticate`
   */
  update(principal: Principal, change: UpdateUserRequest, request: RequestContext): Promise<User>;
  /** Revokes all tokens, including the principal's. */
  revokeTokens(principal: Principal, request: RequestContext): Promise<void>;
  delete(principal: Principal, request: RequestContext): Promise<void>;
}

export function createAuthService(options: AuthServiceOptions): AuthService {
  const { users, outbox, hasher, tokens, familiarNetworks, wrongPasswordLimit, isVerifiedElsewhere } =
    options;
  const { sendsMail, requireCurrentPassword, requireVerifiedEmail } = options.rules;
  const verifyPassword = createPasswordVerifier(hasher, users);

  const findUser: AuthService["findUser"] = async (userId, guard) => {
    const user = await users.findById(userId);
    if (!user) throw new ServiceError("USER_NOT_FOUND");
    if (isRevoked(guard, user)) throw new ServiceError("INVALID_TOKEN");
    if (!user.isActive) throw new ServiceError("INACTIVE_USER");
    return user;
  };

  const explainRejection: AuthService["explainRejection"] = async (userId, guard) => {
    await findUser(userId, guard);
    // The user was inactive when the change was rejected, but has been activated since.
    throw new ServiceError("INACTIVE_USER");
  };

  const networkDigestOf: AuthService["networkDigestOf"] = (email, { network }) =>
    familiarNetworks?.networkDigestOf({ email, network });

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

  const proveOwner: AuthService["proveOwner"] = async (principal, password, request) => {
    const { user, token } = principal;
    if (!hasPassword(user)) {
      expectRecentLogin(token.login);
      return { user, condition: { ...token.guard, password: passwordGuard(user) } };
    }
    if (password === undefined) throw new ServiceError("INVALID_REQUEST", { issues: [MISSING_PASSWORD] });
    const current = await verifyCurrentPassword(principal, password, request);
    return { user: current, condition: { ...token.guard, password: passwordGuard(current) } };
  };

  /** Mails a verification, within its budget. @throws EMAIL_NOT_VERIFIED if the configuration requires a verified e-mail */
  const expectVerified = async ({ email, emailVerified }: User): Promise<void> => {
    if (!requireVerifiedEmail || emailVerified) return;
    await outbox.request("verification", email);
    throw new ServiceError("EMAIL_NOT_VERIFIED");
  };

  const finishLogin = async (
    user: User & { readonly networkSeenAt: Timestamp | null },
    { amr, event = "login.succeeded", provider }: Omit<LoginCompletion, "rejection">,
    { network, audit, warn }: RequestContext,
  ): Promise<string> => {
    const { id, email, isActive, networkSeenAt } = user;
    const isUnverified = requireVerifiedEmail && !user.emailVerified;
    audit(isActive ? (isUnverified ? "login.unverified" : event) : "login.inactive", email, id, {
      amr: tokens.hasMethods ? amr : undefined,
      provider,
    });
    if (isVerifiedElsewhere && !isActive) throw new ServiceError("INACTIVE_USER");
    await expectVerified(user);
    // The login succeeds even if its network or its time is not stored. The next login from the same network can then be limited.
    const warnOf = (name: string, message: string) => (cause: unknown) =>
      warn(new LoggedError(name, message, cause));
    await familiarNetworks
      ?.store(user, network, networkSeenAt)
      .catch(warnOf("NetworkNotStored", "The network of the client was not stored"));
    if (isActive && isLoginStale(user.lastLoginAt))
      await users.storeLogin(id).catch(warnOf("LoginTimeNotStored", "The time of the login was not stored"));
    // A user without a password proves changes by a recent login.
    const isTimed = amr?.[0] !== "pwd";
    return tokens.sign(user, { ...(amr && { amr }), ...(isTimed && { auth_time: currentSeconds() }) });
  };

  return {
    proveOwner,
    findUser,
    explainRejection,
    networkDigestOf,

    async register({ email, username, password }, request) {
      const { signal, audit } = request;
      // Only checks that the database is reachable. The result is ignored: response times must not reveal registered e-mails.
      await users.findByEmail(email);
      const hashedPassword = await hasher.hash(password, { signal });
      const networkDigest = networkDigestOf(email, request);
      const created = users.create({ email, username, hashedPassword, networkDigest, verifies: sendsMail });
      const user = await created.catch((error) => {
        if (error instanceof UserAlreadyExists) audit("user.rejected", email);
        throw error;
      });
      audit("user.registered", email, user.id);
      return user;
    },

    async login({ email, password }, request) {
      const { audit } = request;
      const deduct = familiarNetworks?.beginLogin(email);
      const user = await users.findByEmail(email, networkDigestOf(email, request));
      const seenAt = user?.networkSeenAt ?? null;
      await deduct?.(seenAt).catch((error) => {
        audit("login.limited", email, user?.id);
        throw error;
      });
      const matches = await verifyPassword(user, password, request);
      // The user can change during the derivation. The query runs for unknown e-mails as well: the timing must be equal.
      const current = await users.findByEmail(email);
      if (!user || !matches || current?.id !== user.id || !hasGuardedPassword(current, passwordGuard(user))) {
        const reason = user && !hasPassword(user) ? "no_password" : undefined;
        audit("login.failed", email, user?.id, { reason });
        throw new ServiceError("INVALID_CREDENTIALS");
      }
      const token = await finishLogin({ ...current, networkSeenAt: seenAt }, { amr: ["pwd"] }, request);
      await wrongPasswordLimit?.clear(current);
      return token;
    },

    async completeLogin({ id, email, tokenVersion }, { rejection, ...completion }, request) {
      const user = await users.findWithNetwork(id, networkDigestOf(email, request));
      // After a change of e-mail, the token would be revoked already, and the network would belong to the old e-mail.
      if (user?.email !== email) throw new ServiceError(rejection);
      return finishLogin({ ...user, tokenVersion }, completion, request);
    },

    async renew({ user, token }) {
      await expectVerified(user);
      const renewed =
        token.guard.version === user.tokenVersion ? await tokens.renew(user, token.login) : null;
      if (renewed === null) throw new ServiceError("LOGIN_REQUIRED");
      return renewed;
    },

    async authenticate(token, onSigned, options) {
      const claims = token === null ? null : await tokens.verify(token, onSigned, options);
      if (claims === null) throw new ServiceError("INVALID_TOKEN");
      return { user: await findUser(claims.userId, claims.guard), token: claims };
    },

    async update({ user, token }, change, request) {
      const { username, password, current_password: currentPassword, remove_passkeys } = change;
      const { signal, audit } = request;
      // A rename alone does not compare the hash: the rename must not fail if the same token changes the password meanwhile.
      const derives = password !== undefined || currentPassword !== undefined;
      const condition = derives ? { ...token.guard, password: passwordGuard(user) } : token.guard;
      const isProved = hasPassword(user) ? currentPassword !== undefined || requireCurrentPassword : true;
      if (derives && isProved) await proveOwner({ user, token }, currentPassword, request);
      const values = {
        ...(username !== undefined && { username }),
        ...(password !== undefined && {
          hashedPassword: await hasher.hash(password, { signal }),
          passwordChangeTokenId: token.guard.exceptToken,
          notifies: sendsMail,
          keepsPasskeys: !remove_passkeys,
          keptNetworkDigest: currentPassword === undefined ? undefined : networkDigestOf(user.email, request),
        }),
      };
      const updated =
        (await users.update(user.id, values, condition)) ?? (await explainRejection(user.id, condition));
      if (password !== undefined) audit("password.changed", user.email, user.id);
      else if (username !== undefined) audit("user.updated", user.email, user.id);
      return updated;
    },

    async revokeTokens({ user, token }, { audit }) {
      if (!(await users.revokeTokens(user.id, token.guard))) await explainRejection(user.id, token.guard);
      audit("tokens.revoked", user.email, user.id);
    },

    async delete({ user, token }, { audit }) {
      const isDeleted = await users.delete(user.id, token.guard, { notifies: sendsMail });
      if (!isDeleted) await explainRejection(user.id, token.guard);
      audit("user.deleted", user.email, user.id);
    },
  };
}

/** A login is recent for so long. */
const RECENT_LOGIN_SECONDS = 5 * 60;
/** The clock of the replica that issued the token can be ahead. */
const CLOCK_DIFFERENCE_SECONDS = 10;

/** The issue of a request without the password of a user who has one, as the validator writes it. */
const MISSING_PASSWORD = { loc: ["body", "current_password"], msg: "is required", type: "missing" };

const currentSeconds = (): number => Math.floor(Date.now() / 1000);

/** @throws RECENT_LOGIN_REQUIRED */
function expectRecentLogin({ auth_time = 0 }: LoginClaims): void {
  const age = currentSeconds() - auth_time;
  if (age < -CLOCK_DIFFERENCE_SECONDS || age > RECENT_LOGIN_SECONDS)
    throw new ServiceError("RECENT_LOGIN_REQUIRED");
}
