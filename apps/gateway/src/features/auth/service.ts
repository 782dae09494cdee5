/** Registration, login and the current user, without HTTP. The database enforces uniqueness; all derivations go to the hasher. */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import type { User, UserRepository } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { WrongPasswordLimit } from "../../rate-limit/wrong-password-limit.ts";
import {
  CurrentPasswordIncorrect,
  InactiveUser,
  InvalidCredentials,
  InvalidToken,
  UserNotFound,
} from "./errors.ts";

interface TokenClaims {
  readonly userId: number;
  /** The user's `tokenVersion` when the token was issued. */
  readonly version: number;
  readonly tokenId: string | null;
}

/** Who sends a request: the user as read from the database, and the id of the token. */
interface Principal {
  readonly user: User;
  readonly tokenId: string | null;
}

export interface AuthServiceOptions {
  readonly users: UserRepository;
  readonly hasher: Pick<Hasher, "hash" | "verify">;
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
  register(request: RegisterRequest, signal: AbortSignal): Promise<User>;
  /**
   * Returns an access token, also for an inactive user; `authenticate` then rejects it.
   * @throws InvalidCredentials
   */
  login(credentials: LoginRequest, signal: AbortSignal): Promise<string>;
  /** @throws InvalidToken, UserNotFound or InactiveUser, checked in this order */
  authenticate(token: string | null): Promise<Principal>;
  /**
   * An empty change changes nothing. A new password revokes all tokens except the principal's.
   * @throws UserAlreadyExists
   * @throws CurrentPasswordIncorrect
   * @throws TooManyRequests after too many wrong values of `current_password`
   * @throws UserNotFound, InvalidToken or InactiveUser if the user was deleted, got another password or token version, or
   * was deactivated after `authenticate`, checked in this order
   */
  update(principal: Principal, change: UpdateUserRequest, signal: AbortSignal): Promise<User>;
  /**
   * Revokes all tokens, including the principal's.
   * @throws UserNotFound, InvalidToken or InactiveUser as `update`
   */
  revokeTokens(principal: Principal): Promise<void>;
  /** @throws UserNotFound if the user was deleted after `authenticate` */
  delete(principal: Principal): Promise<void>;
}

/** Not a valid stored hash: verifying against it runs a full derivation and fails. */
const NO_HASH = "";

export function createAuthService(options: AuthServiceOptions): AuthService {
  const { users, hasher, tokens, wrongPasswordLimit } = options;

  /** @throws UserNotFound, InvalidToken or InactiveUser if the user is no longer as it was authenticated */
  const expectUnchanged = async ({ id, hashedPassword, tokenVersion }: User): Promise<void> => {
    const current = await users.findById(id);
    if (!current) throw new UserNotFound();
    if (current.hashedPassword !== hashedPassword || current.tokenVersion !== tokenVersion)
      throw new InvalidToken();
    if (!current.isActive) throw new InactiveUser();
  };

  /** Returns the result of an update that expected `user`; throws if there is none. */
  const expectUpdated = async (user: User, updated: User | null): Promise<User> => {
    if (updated) return updated;
    await expectUnchanged(user);
    // Activated again after the update.
    throw new InactiveUser();
  };

  return {
    async register({ email, username, password }, signal) {
      return users.create({ email, username, hashedPassword: await hasher.hash(password, { signal }) });
    },

    async login({ email, password }, signal) {
      const user = await users.findByEmail(email);
      const matches = await hasher.verify(password, user?.hashedPassword ?? NO_HASH, { signal });
      // The user can change during the derivation. Read again also for unknown e-mails, so that timing is equal.
      const current = await users.findByEmail(email);
      if (!user || !matches || current?.hashedPassword !== user.hashedPassword)
        throw new InvalidCredentials();
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

    async update({ user, tokenId }, { username, password, current_password: currentPassword }, signal) {
      if (currentPassword !== undefined) {
        const verify = () => hasher.verify(currentPassword, user.hashedPassword, { signal });
        const matches = await (wrongPasswordLimit?.(user.id, verify) ?? verify());
        // The user can change during the derivation. A token that was revoked meanwhile must not learn the result.
        await expectUnchanged(user);
        if (!matches) throw new CurrentPasswordIncorrect();
      }
      const change = {
        ...(username !== undefined && { username }),
        ...(password !== undefined && {
          hashedPassword: await hasher.hash(password, { signal }),
          passwordChangeTokenId: tokenId,
        }),
      };
      return expectUpdated(user, await users.update(user.id, change, user));
    },

    async revokeTokens({ user }) {
      await expectUpdated(user, await users.revokeTokens(user.id, user));
    },

    async delete({ user }) {
      if (!(await users.delete(user.id))) throw new UserNotFound();
    },
  };
}

/** A token has the version of its user, or it made the latest password change, when it had an earlier version. */
function isRevoked({ version, tokenId }: TokenClaims, user: User): boolean {
  const isKept = tokenId !== null && tokenId === user.passwordChangeTokenId;
  return version !== user.tokenVersion && !(isKept && version < user.tokenVersion);
}
