/** The rules of accounts. Knows no HTTP; the database decides uniqueness, the hasher does every derivation. */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import type { User, UserRepository } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import { InactiveUser, InvalidCredentials, InvalidToken, UserNotFound } from "./errors.ts";

export interface AccountsOptions {
  readonly users: UserRepository;
  readonly hasher: Pick<Hasher, "hash" | "verify">;
  readonly tokens: {
    sign(userId: number): Promise<string>;
    verify(token: string): Promise<number | null>;
  };
}

export interface Accounts {
  /** @throws UserAlreadyExists */
  register(person: RegisterRequest, signal: AbortSignal): Promise<User>;
  /**
   * Gives an access token, also to an inactive user, whose token the gate then refuses.
   * @throws InvalidCredentials
   */
  login(credentials: LoginRequest, signal: AbortSignal): Promise<string>;
  /** @throws InvalidToken, UserNotFound or InactiveUser, judged in that order */
  authenticate(token: string | null): Promise<User>;
  /** An empty change changes nothing. @throws UserAlreadyExists, or UserNotFound if the account has just gone */
  update(user: User, change: UpdateUserRequest, signal: AbortSignal): Promise<User>;
  /** @throws UserNotFound if the account has just gone */
  remove(user: User): Promise<void>;
}

/** Never in the stored form, so that verifying against it costs a full derivation and fails. */
const NO_HASH = "";

export function createAccounts({ users, hasher, tokens }: AccountsOptions): Accounts {
  return {
    async register({ email, username, password }, signal) {
      return users.create({ email, username, hashedPassword: await hasher.hash(password, { signal }) });
    },

    async login({ email, password }, signal) {
      const user = await users.findByEmail(email);
      const matches = await hasher.verify(password, user?.hashedPassword ?? NO_HASH, { signal });
      // Always read again, so that every failed login does the same work.
      const current = await users.findByEmail(email);
      if (!user || !matches || current?.hashedPassword !== user.hashedPassword)
        throw new InvalidCredentials();
      return tokens.sign(user.id);
    },

    async authenticate(token) {
      const id = token === null ? null : await tokens.verify(token);
      if (id === null) throw new InvalidToken();
      const user = await users.findById(id);
      if (!user) throw new UserNotFound();
      if (!user.isActive) throw new InactiveUser();
      return user;
    },

    async update(user, { username, password }, signal) {
      const rename = username !== undefined && { username };
      const rehash = password !== undefined && { hashedPassword: await hasher.hash(password, { signal }) };
      // A derivation takes long enough for the user to change: write only if it is still the authenticated one.
      const updated = await users.update(user.id, { ...rename, ...rehash }, rehash ? user : undefined);
      if (updated) return updated;
      const current = await users.findById(user.id);
      if (!current) throw new UserNotFound();
      throw current.hashedPassword === user.hashedPassword ? new InactiveUser() : new InvalidToken();
    },

    async remove(user) {
      if (!(await users.delete(user.id))) throw new UserNotFound();
    },
  };
}
