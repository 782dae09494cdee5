/** Registration, login and the current user, without HTTP. The database enforces uniqueness; all derivations go to the hasher. */
import type { LoginRequest, RegisterRequest, UpdateUserRequest } from "@latchkey/contracts";
import type { User, UserRepository } from "@latchkey/database";
import type { Hasher } from "@latchkey/hashing";
import type { AuditEvent } from "../../observability/audit.ts";
import { InactiveUser, InvalidCredentials, InvalidToken, NetworkNotStored, UserNotFound } from "./errors.ts";
import type { LoginThrottle } from "./login-throttle.ts";

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

export interface AuthServiceOptions {
  readonly users: UserRepository;
  readonly hasher: Pick<Hasher, "hash" | "verify">;
  /** null: logins are not limited per e-mail. */
  readonly loginThrottle: LoginThrottle | null;
  readonly tokens: {
    sign(claims: { readonly userId: number; readonly version: number }): Promise<string>;
    /** Returns null if the token is invalid. */
    verify(token: string): Promise<{ readonly userId: number } | null>;
  };
}

export interface AuthService {
  /** @throws UserAlreadyExists */
  register(registration: RegisterRequest, request: AuthRequest): Promise<User>;
  /**
   * Returns an access token, also for an inactive user; `authenticate` then rejects it.
   * @throws TooManyLoginAttempts or InvalidCredentials
   */
  login(credentials: LoginRequest, request: AuthRequest): Promise<string>;
  /** @throws InvalidToken, UserNotFound or InactiveUser, checked in this order */
  authenticate(token: string | null): Promise<User>;
  /**
   * An empty change changes nothing.
   * @throws UserAlreadyExists
   * @throws UserNotFound, InvalidToken or InactiveUser if the user was deleted, got another password or was deactivated
   * after `authenticate`, checked in this order
   */
  update(user: User, change: UpdateUserRequest, request: AuthRequest): Promise<User>;
  /** @throws UserNotFound if the user was deleted after `authenticate` */
  delete(user: User, request: AuthRequest): Promise<void>;
}

/** Not a valid stored hash: verifying against it runs a full derivation and fails. */
const NO_HASH = "";

export function createAuthService({ users, hasher, tokens, loginThrottle }: AuthServiceOptions): AuthService {
  /** The response does not depend on its success. */
  const storeNetwork = async (user: User, seenAt: Date | null, { network, warn }: AuthRequest) => {
    const client = { email: user.email, network };
    await loginThrottle
      ?.storeNetwork(client, user.id, seenAt)
      .catch((error) => warn(new NetworkNotStored(error)));
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

    async update(user, { username, password }, { signal, audit }) {
      const rename = username !== undefined && { username };
      const rehash = password !== undefined && { hashedPassword: await hasher.hash(password, { signal }) };
      // The same applies here: write only if the user is still active and has the password that was authenticated.
      const updated = await users.update(user.id, { ...rename, ...rehash }, rehash ? user : undefined);
      if (updated) {
        if (rehash) audit("password.changed", user.email, user.id);
        else if (rename) audit("user.updated", user.email, user.id);
        return updated;
      }
      const current = await users.findById(user.id);
      if (!current) throw new UserNotFound();
      throw current.hashedPassword === user.hashedPassword ? new InactiveUser() : new InvalidToken();
    },

    async delete(user, { audit }) {
      if (!(await users.delete(user.id))) throw new UserNotFound();
      audit("user.deleted", user.email, user.id);
    },
  };
}
