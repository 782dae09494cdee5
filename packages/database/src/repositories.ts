/** The database interface. Every implementation passes `test/support/repository-conformance.ts`; rows have the columns of `schema.ts`. */
import type { MailKind } from "@latchkey/contracts";
import type { Tables } from "./repository-client.ts";

/** RFC 3339 in UTC with milliseconds, as on the wire: `2026-01-02T03:04:05.678Z`. */
export type Timestamp = string;

export type User = Readonly<Tables["users"]["$inferSelect"]>;
export type Todo = Readonly<Tables["todos"]["$inferSelect"]>;

/** Selects the first `limit` rows with an id greater than `after`, in ascending order of id. */
export interface PageRequest {
  readonly after: number;
  readonly limit: number;
}

/** What must be true in the statement of a conditional change: the user is active, and this token is valid. */
export interface ValidToken {
  /** The user's version, or a lower one if the token made the latest password change. */
  readonly version: number;
  readonly tokenId: string | null;
  /** With it, the user must also have this hash. */
  readonly hashedPassword?: string;
  /** If that hash belongs to an imported one: the user's version. Under it, a replaced imported hash counts as the same. */
  readonly importedVersion?: number | undefined;
}

export interface UserChange {
  readonly username?: string;
  readonly emailVerified?: boolean;
  /**
   * A new hash revokes all tokens except the first one below, deletes all networks except the second, the passkeys, and the
   * resets in the outbox.
   */
  readonly hashedPassword?: string;
  /** Stored with a new hash. @default null */
  readonly passwordChangeTokenId?: string | null;
  readonly keptNetworkDigest?: string | undefined;
  /** A network that is stored with a new hash. */
  readonly networkDigest?: string | undefined;
  /** Whether a new hash keeps the passkeys: not if it is not the user's own change. @default false */
  readonly keepsPasskeys?: boolean;
  /** Whether a new hash writes a notification to the outbox. @default false */
  readonly notifies?: boolean;
}

export interface NewUser extends Pick<User, "email" | "username" | "hashedPassword"> {
  /** A network that is stored together with the user. */
  readonly networkDigest?: string | undefined;
  /** Whether a verification is written to the outbox together with the user. @default false */
  readonly verifies?: boolean;
}

/** A user that is created with the values of another system. */
export interface ImportedUser extends Pick<User, "email" | "username" | "hashedPassword" | "importedHash"> {
  readonly isActive?: boolean | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly createdAt?: Timestamp | undefined;
  readonly roles?: string[] | undefined;
}

/** Selects the users that meet all conditions. */
export interface ListRequest extends PageRequest {
  /** Only users with an imported hash. @default false */
  readonly isImported?: boolean;
  /** Only inactive users. @default false */
  readonly isInactive?: boolean;
  /** Only users whose e-mail or username contains this text; the case of ASCII letters is ignored. @default all */
  readonly search?: string | undefined;
  /** Only users whose e-mail has this domain, in lower case. @default all */
  readonly domain?: string | undefined;
}

/** The largest number of networks that are stored for one user. */
export const MAX_NETWORKS = 20;

/** Ids are positive safe integers and never reused. Every method can reject with `DatabaseUnavailable`. */
export interface UserRepository {
  /** @throws UserAlreadyExists */
  create(user: NewUser): Promise<User>;
  findById(id: number): Promise<User | null>;
  /**
   * Compares exactly: the caller must trim and lowercase the address. Also returns when the network was last stored for
   * this user, or null.
   */
  findByEmail(
    email: string,
    networkDigest?: string,
  ): Promise<(User & { readonly networkSeenAt: Timestamp | null }) | null>;
  /**
   * Stores the network with the current time; of more than `MAX_NETWORKS` of one user, the oldest are deleted.
   * @param tokenVersion stores nothing if the user has another one. @default any
   */
  storeNetwork(userId: number, networkDigest: string, tokenVersion?: number): Promise<void>;
  /** Returns when each network of the user was last stored. */
  findNetworkTimes(userId: number): Promise<Timestamp[]>;
  /**
   * Also updates `updatedAt`, unless `change` is empty. Returns null if the user does not exist or the condition is not
   * met; an empty change has no condition.
   * @throws UserAlreadyExists
   */
  update(id: number, change: UserChange, condition?: ValidToken): Promise<User | null>;
  /**
   * Sets a verified e-mail, revokes all tokens, deletes all networks, passkeys and links in the outbox, and notifies the old e-mail, to
   * which the notifications in the outbox are still sent. Returns null if the user does not exist or the condition is not met.
   * @throws UserAlreadyExists
   */
  changeEmail(user: User, email: string, condition: ValidToken): Promise<User | null>;
  /**
   * Replaces an imported hash by one of the same password, and changes nothing else. Returns false if the user does not exist
   * or has other hashes.
   */
  rehash(user: User, hashedPassword: string): Promise<boolean>;
  /** Returns the users with one of the e-mail addresses or usernames. Compares exactly. */
  findTaken(names: {
    readonly emails: readonly string[];
    readonly usernames: readonly string[];
  }): Promise<User[]>;
  /** Returns those of the e-mail addresses whose imported user deleted the account in the last 90 days. */
  findDeleted(emails: readonly string[]): Promise<string[]>;
  /**
   * Creates the users, at least one, with random token versions, except those whose e-mail address or username is taken, or
   * whose account was deleted as in `findDeleted`; returns the created ones.
   */
  import(users: readonly ImportedUser[]): Promise<Pick<User, "id" | "email">[]>;
  /** Stores that these users were imported; the time is the current one. */
  markImported(ids: readonly number[]): Promise<void>;
  /** Returns the highest id ever used, also if that user was deleted; 0 without any. */
  findLastId(): Promise<number>;
  /** New users get ids above this one, and above those used before. */
  raiseLastId(id: number): Promise<void>;
  /** Revokes all tokens and deletes the resets in the outbox. Returns null if the user does not exist or the condition is not met. */
  revokeTokens(id: number, condition?: ValidToken): Promise<User | null>;
  /**
   * Changes nothing if the user is already so. Activating a user revokes all tokens, so that those of before stay invalid;
   * both delete the resets in the outbox.
   */
  setActive(id: number, isActive: boolean): Promise<User | null>;
  /** Removing a role revokes all tokens, and deletes the resets in the outbox. Returns null if the user does not exist. */
  setRoles(id: number, roles: readonly string[]): Promise<User | null>;
  /**
   * Returns false if the user does not exist or the condition is not met.
   * @param condition the owner's token: if the user was imported, later imports skip the e-mail address for 90 days
   */
  delete(id: number, condition?: ValidToken): Promise<boolean>;
  /** Deletes the users in one statement, and returns the ids of those that existed. */
  deleteAll(ids: readonly number[]): Promise<number[]>;
  list(request: ListRequest): Promise<User[]>;
}

/** Ids are positive safe integers and never reused. Every method can reject with `DatabaseUnavailable`. */
export interface TodoRepository {
  create(todo: { title: string; completed: boolean }): Promise<Todo>;
  findById(id: number): Promise<Todo | null>;
  /** Also updates `updatedAt`, unless `change` is empty. Returns null if the todo does not exist. */
  update(id: number, change: { title?: string; completed?: boolean }): Promise<Todo | null>;
  /** Returns false if the todo does not exist. */
  delete(id: number): Promise<boolean>;
  list(page: PageRequest): Promise<Todo[]>;
}

export type Passkey = Readonly<Tables["passkeys"]["$inferSelect"]>;

/** What must be true of the user to whom a passkey is added. */
export interface PasskeyCondition extends ValidToken {
  readonly tokenVersion: number;
  /** The user's `passkeyRevision`. */
  readonly revision: number;
}

interface PasskeyChange {
  /** Whether a notification is written to the outbox together with the change. */
  readonly notifies: boolean;
}

/** A statement with which a passkey logs in once. */
export interface PasskeyUse extends Pick<Passkey, "id" | "counter"> {
  readonly digest: string;
  /** In milliseconds since the epoch. */
  readonly expiresAt: number;
  /** Statements that expired earlier are forgotten: when the clock of no replica accepts them any more. */
  readonly forgetBefore: number;
}

/** The largest number of passkeys of one user. */
export const MAX_PASSKEYS = 10;
/** The largest number of statements that a passkey has used and that are not forgotten. */
export const MAX_USED_STATEMENTS = 8;

export interface PasskeyRepository {
  /** Also returns what a login depends on of its user. */
  findById(
    id: string,
  ): Promise<
    (Passkey & Pick<User, "email" | "tokenVersion"> & { readonly userHandle: string | null }) | null
  >;
  /** The oldest first. */
  list(userId: number): Promise<Passkey[]>;
  /** Returns the number of passkeys of each of these users who has any. */
  count(userIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Returns the user's handle, which is `candidate` if there was none; null if the user does not exist. */
  chooseUserHandle(userId: number, candidate: string): Promise<string | null>;
  /** Returns null if the condition is not met, the user has `MAX_PASSKEYS`, or the id is taken. */
  create(
    passkey: Pick<Passkey, "id" | "userId" | "publicKey" | "counter" | "name">,
    condition: PasskeyCondition,
    options: PasskeyChange,
  ): Promise<Passkey | null>;
  /**
   * Stores a login. Returns false if the passkey has used the statement or `MAX_USED_STATEMENTS`, if the counter has not grown
   * and one of the two is not 0, or if the passkey does not exist.
   */
  use(use: PasskeyUse): Promise<boolean>;
  /** Returns false if the condition is not met or the user has no such passkey. */
  delete(id: string, userId: number, condition: ValidToken, options: PasskeyChange): Promise<boolean>;
  /** Returns the user, or null if the user does not exist. */
  deleteAll(userId: number): Promise<User | null>;
}

type OutboxRow = Readonly<Tables["outbox"]["$inferSelect"]>;

/** An address, and whether a user has proved that it is theirs. */
export type Recipient = Pick<User, "email" | "emailVerified">;
/** `capacity` mails of these kinds in 24 hours, then one more each time `refillMs` have passed since the latest one. */
export interface MailBudget {
  readonly per: "recipient" | "user";
  readonly kinds: readonly MailKind[];
  readonly capacity: number;
  readonly refillMs: number;
}

export interface MailPolicy {
  /** Recipients with the same digest share their budgets. */
  readonly digestMailbox: (recipient: Recipient) => string;
  /** A mail is sent if all budgets of its kind allow it. All processes lock them in this order. */
  readonly budgets: readonly MailBudget[];
}

/** A mail that this process has claimed; `attempts` includes this one. */
export interface Mail extends Omit<OutboxRow, "recipient" | "isRecipientVerified"> {
  /** As read when the mail was claimed; null: none has the e-mail of the request, or the user was deleted. */
  readonly user: User | null;
  /** The one that was stored with the mail, otherwise the user. */
  readonly recipient: Recipient | null;
  /** Whether a user has the e-mail that was stored with the mail. */
  readonly isTaken: boolean;
  /** If not, delete it. */
  readonly isWithinBudget: boolean;
}

/** The mails that wait, and those that count in a budget. Every method can reject with `DatabaseUnavailable`. */
export interface OutboxRepository {
  /**
   * Runs the same statement whether or not a user has this e-mail.
   * @param options.isLimited whether the mail counts in the budget of its recipient. @default true
   */
  request(
    kind: "reset" | "verification",
    email: string,
    options?: { readonly isLimited?: boolean },
  ): Promise<void>;
  /** Runs the same statement whether or not a user has the new e-mail. @param request.recipient the new e-mail */
  requestEmailChange(request: {
    readonly userId: number;
    readonly recipient: string;
    readonly state: string;
  }): Promise<void>;
  /**
   * Claims a mail that is due for 60 seconds: no other process sends it meanwhile. Returns null if there is none. The first
   * attempt is counted in the budgets.
   */
  claim(policy: MailPolicy): Promise<Mail | null>;
  /** The mail was sent or rejected for good: only its budget remains, not its recipient. */
  finish(id: number): Promise<void>;
  /** @param attempts as claimed: a mail that was claimed again stays claimed */
  postpone(mail: Pick<Mail, "id" | "attempts">, seconds: number): Promise<void>;
  delete(id: number): Promise<void>;
  /** Deletes the finished mails that no budget counts any more. */
  deleteOld(): Promise<void>;
  /** The number of mails that wait. */
  count(): Promise<number>;
}

/** `newer`: a later release has migrated the schema, and all of its migrations are compatible with this release. */
export type SchemaState = "current" | "newer";

export interface DatabaseOptions {
  /** `file:` with a relative or absolute path, `postgres://` or `postgresql://`. */
  readonly url: string;
  /** The folder that a relative `file:` path refers to. @default the working directory */
  readonly baseDirectory?: string | undefined;
  /** Maximum number of connections to a server; ignored for a file. @default 10 */
  readonly poolSize?: number | undefined;
  /**
   * Whether a server prepares statements once per connection instead of once per query; `auto`: only on connections that
   * are proved to be direct, because some poolers mix up the statements of their clients. @default "auto"
   */
  readonly preparedStatements?: "auto" | "true" | "false" | undefined;
}

export interface Database extends AsyncDisposable {
  readonly kind: "libsql" | "postgres";
  readonly users: UserRepository;
  readonly passkeys: PasskeyRepository;
  readonly todos: TodoRepository;
  readonly outbox: OutboxRepository;
  /**
   * Runs a trivial query; fails after a second at the latest.
   * @throws DatabaseUnavailable
   */
  ping(): Promise<void>;
  /**
   * Migrates the schema to this release; several processes can call it at the same time. Fails after a minute.
   * @param log receives a sentence for each attempt that did not get a lock on a table
   * @throws SchemaTooNew
   * @throws MigrationRejected
   * @throws DatabaseUnavailable
   */
  migrate(log?: (message: string) => void): Promise<SchemaState>;
  /** Closes all connections; later calls of the repositories reject with `DatabaseUnavailable`. */
  close(): Promise<void>;
}
