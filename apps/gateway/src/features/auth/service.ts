/** Registration, login and the current user, without HTTP. The database enforces uniqueness; all derivations go to the hasher. */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import type { User, UserRepository } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { InactiveUser, InvalidCredentials, InvalidToken, UserNotFound } from "./errors.ts";

export interface AuthServiceOptions {
  readonly users: UserRepository;
  readonly hasher: Pick<Hasher, "hash" | "verify">;
  readonly tokens: {
    sign(claims: { readonly userId: number; readonly version: number }): Promise<string>;
    /** Returns null if the token is invalid. */
    verify(token: string): Promise<{ readonly userId: number } | null>;
  };
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
  authenticate(token: string | null): Promise<User>;
  /**
   * An empty change changes nothing.
   * @throws UserAlreadyExists
   * @throws UserNotFound, InvalidToken or InactiveUser if the user was deleted, got another password or was deactivated
   * after `authenticate`, checked in this order
   */
  update(user: User, change: UpdateUserRequest, signal: AbortSignal): Promise<User>;
  /** @throws UserNotFound if the user was deleted after `authenticate` */
  delete(user: User): Promise<void>;
}

/** Not a valid stored hash: verifying against it runs a full derivation and fails. */
const NO_HASH = "";

export function createAuthService({ users, hasher, tokens }: AuthServiceOptions): AuthService {
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
      return tokens.sign({ userId: user.id, version: 0 });
    },

    async authenticate(token) {
      const claims = token === null ? null : await tokens.verify(token);
      if (claims === null) throw new InvalidToken();
      const user = await users.findById(claims.userId);
      if (!user) throw new UserNotFound();
      if (!user.isActive) throw new InactiveUser();
      return user;
    },

    async update(user, { username, password }, signal) {
      const rename = username !== undefined && { username };
      const rehash = password !== undefined && { hashedPassword: await hasher.hash(password, { signal }) };
      // The same applies here: write only if the user is still active and has the password that was authenticated.
      const updated = await users.update(user.id, { ...rename, ...rehash }, rehash ? user : undefined);
      if (updated) return updated;
      const current = await users.findById(user.id);
      if (!current) throw new UserNotFound();
      throw current.hashedPassword === user.hashedPassword ? new InactiveUser() : new InvalidToken();
    },

    async delete(user) {
      if (!(await users.delete(user.id))) throw new UserNotFound();
    },
  };
}
