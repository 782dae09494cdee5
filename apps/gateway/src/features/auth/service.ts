/** Registration, login and the current user, without HTTP. The database enforces uniqueness; all derivations go to the hasher. */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import type { Timestamp, User, UserRepository } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { TooManyRequests } from "../../errors.ts";
import type { AuditEvent } from "../../observability/audit.ts";
import {
  CurrentPasswordIncorrect,
  InactiveUser,
  InvalidCredentials,
  InvalidToken,
  NetworkNotStored,
  UserNotFound,
} from "./errors.ts";
import type { LoginThrottle } from "./login-throttle.ts";
import type { WrongPasswordLimit } from "./wrong-password-limit.ts";

/** The request of an operation, and its log line. */
export interface AuthRequest {
  readonly signal: AbortSignal;
  /** The client's IPv4 address or IPv6 /64. */
  readonly network: string;
  /** Adds an event to the log line; the last one counts. */
  audit(event: AuditEvent, email: string, userId?: number): void;
  /** Adds an error to the log line that does not change the response. */
  warn(error: Error): void;
}

interface TokenClaims {
  readonly userId: number;
  /** The user's `tokenVersion` when the token was issued. */
  readonly version: number;
  readonly tokenId: string | null;
}

/** The authenticated user, as read from the database, and the id of the token. */
interface Principal {
  readonly user: User;
  readonly tokenId: string | null;
}

interface AuthServiceOptions {
  readonly users: UserRepository;
  readonly hasher: Pick<Hasher, "hash" | "verify">;
  /** null: logins are not limited per e-mail. */
  readonly loginThrottle: LoginThrottle | null;
  readonly tokens: {
    sign(claims: Omit<TokenClaims, "tokenId">): Promise<string>;
    /** Returns null if the token is invalid. */
    verify(token: string): Promise<TokenClaims | null>;
  };
  /** null: wrong values of `current_password` are not limited. */
  readonly wrongPasswordLimit: WrongPasswordLimit | null;
}

export interface AuthService {
  /** @throws UserAlreadyExists */
  register(registration: RegisterRequest, request: AuthRequest): Promise<User>;
  /**
   * Returns an access token, also for an inactive user; `authenticate` then rejects it.
   * @throws TooManyRequests or InvalidCredentials
   */
  login(credentials: LoginRequest, request: AuthRequest): Promise<string>;
  /** @throws InvalidToken, UserNotFound or InactiveUser, checked in this order */
  authenticate(token: string | null): Promise<Principal>;
  /**
   * An empty change changes nothing. A new password revokes all tokens except the principal's.
   * @throws UserAlreadyExists
   * @throws CurrentPasswordIncorrect
   * @throws TooManyRequests after too many wrong values of `current_password`
   * @throws UserNotFound if the user was deleted after `authenticate`; with a password or `current_password`, InvalidToken if
   * the user also got another password or token version, and InactiveUser if the user was deactivated
   */
  update(principal: Principal, change: UpdateUserRequest, request: AuthRequest): Promise<User>;
  /**
   * Revokes all tokens, including the principal's.
   * @throws UserNotFound if the user was deleted after `authenticate`
   */
  revokeTokens(principal: Principal, request: AuthRequest): Promise<void>;
  /** @throws UserNotFound if the user was deleted after `authenticate` */
  delete(principal: Principal, request: AuthRequest): Promise<void>;
}

/** Not a valid stored hash: verifying against it runs a full derivation and fails. */
const NO_HASH = "";

export function createAuthService(options: AuthServiceOptions): AuthService {
  const { users, hasher, tokens, loginThrottle, wrongPasswordLimit } = options;

  /** The response does not depend on its success. */
  const storeNetwork = async (user: User, seenAt: Timestamp | null, { network, warn }: AuthRequest) => {
    const client = { email: user.email, network };
    await loginThrottle
      ?.storeNetwork(client, user.id, seenAt)
      .catch((error) => warn(new NetworkNotStored(error)));
  };

  /** @throws UserNotFound, InvalidToken or InactiveUser if the user is no longer as it was authenticated */
  const expectUnchanged = async ({ id, hashedPassword, tokenVersion }: User): Promise<void> => {
    const current = await users.findById(id);
    if (!current) throw new UserNotFound();
    if (current.hashedPassword !== hashedPassword || current.tokenVersion !== tokenVersion)
      throw new InvalidToken();
    if (!current.isActive) throw new InactiveUser();
  };

  return {
    async register({ email, username, password }, request) {
      const { signal, audit } = request;
      const user = await users.create({
        email,
        username,
        hashedPassword: await hasher.hash(password, { signal }),
      });
      audit("user.registered", email, user.id);
      await storeNetwork(user, null, request);
      return user;
    },

    async login({ email, password }, request) {
      const { signal, network, audit } = request;
      const attempt = loginThrottle?.begin({ email, network });
      const user = await users.findByEmail(email, attempt?.networkDigest);
      const seenAt = user?.networkSeenAt ?? null;
      await attempt?.deduct(seenAt).catch((error) => {
        audit("login.limited", email, user?.id);
        throw error;
      });
      const matches = await hasher.verify(password, user?.hashedPassword ?? NO_HASH, { signal });
      // The user can change during the derivation. Read again also for unknown e-mails, so that timing is equal.
      const current = await users.findByEmail(email);
      if (!user || !matches || current?.hashedPassword !== user.hashedPassword) {
        audit("login.failed", email, user?.id);
        throw new InvalidCredentials();
      }
      audit("login.succeeded", email, user.id);
      await storeNetwork(user, seenAt, request);
      return tokens.sign({ userId: user.id, version: current.tokenVersion });
    },

    async authenticate(token) {
      const claims = token === null ? null : await tokens.verify(token);
      if (claims === null) throw new InvalidToken();
      const user = await users.findById(claims.userId);
      if (!user) throw new UserNotFound();
      if (isRevoked(claims, user)) throw new InvalidToken();
      if (!user.isActive) throw new InactiveUser();
      return { user, tokenId: claims.tokenId };
    },

    async update({ user, tokenId }, { username, password, current_password: currentPassword }, request) {
      const { signal, audit } = request;
      if (currentPassword !== undefined) {
        const verify = () => hasher.verify(currentPassword, user.hashedPassword, { signal });
        const matches = await (wrongPasswordLimit?.(user.id, verify) ?? verify()).catch((error) => {
          if (error instanceof TooManyRequests) audit("password.limited", user.email, user.id);
          throw error;
        });
        // The user can change during the derivation. A token that was revoked meanwhile must not learn the result.
        await expectUnchanged(user);
        if (!matches) {
          audit("password.rejected", user.email, user.id);
          throw new CurrentPasswordIncorrect();
        }
      }
      const change = {
        ...(username !== undefined && { username }),
        ...(password !== undefined && {
          hashedPassword: await hasher.hash(password, { signal }),
          passwordChangeTokenId: tokenId,
        }),
      };
      // Without a derivation, no time passes: a rename must not fail because the same token changes the password.
      const expected = password === undefined && currentPassword === undefined ? undefined : user;
      const updated = await users.update(user.id, change, expected);
      if (!updated) {
        await expectUnchanged(user);
        // Activated again after the update.
        throw new InactiveUser();
      }
      if (password !== undefined) audit("password.changed", user.email, user.id);
      else if (username !== undefined) audit("user.updated", user.email, user.id);
      return updated;
    },

    async revokeTokens({ user }, { audit }) {
      if (!(await users.revokeTokens(user.id))) throw new UserNotFound();
      audit("tokens.revoked", user.email, user.id);
    },

    async delete({ user }, { audit }) {
      if (!(await users.delete(user.id))) throw new UserNotFound();
      audit("user.deleted", user.email, user.id);
    },
  };
}

/** A token has the version of its user, or it made the latest password change, when it had an earlier version. */
function isRevoked({ version, tokenId }: TokenClaims, user: User): boolean {
  const isKept = tokenId !== null && tokenId === user.passwordChangeTokenId;
  return version !== user.tokenVersion && !(isKept && version < user.tokenVersion);
}
