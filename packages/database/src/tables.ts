/** The tables of both databases. Columns are named like the fields in the API's JSON, such as `created_at`. */
import type { MailKind } from "@latchkey/contracts";
import { isNotNull, isNull, type SQLWrapper, sql } from "drizzle-orm";
import type * as postgresColumns from "./postgres/columns.ts";

/** Drizzle's builders of one database, with the types of PostgreSQL (`withPostgresTypes`). */
export type Columns = typeof postgresColumns;

/** The conditions of partial indexes. Queries must use the same text: SQLite compares texts, not meanings. */
export const isInactive = (isActive: SQLWrapper) => sql`not ${isActive}`;
export const hasRoles = (roles: SQLWrapper) => sql`${roles} <> '[]'`;

export function createTables(columns: Columns) {
  const { bigint, boolean, claims, id, index, integer, now, primaryKey, roles, table, text, timestamp } =
    columns;
  const { binary, isEmailIndexBinary, uniqueIndex } = columns;
  const createdAt = () => timestamp("created_at").notNull().default(now);
  const updatedAt = () => timestamp("updated_at").notNull().default(now);

  const users = table(
    "users",
    {
      id: id(),
      email: text().notNull().unique(),
      username: text().notNull().unique(),
      hashedPassword: text("hashed_password").notNull(),
      isActive: boolean("is_active").notNull().default(true),
      /** A token with another version is revoked, unless its `jti` is `passwordChangeTokenId`. */
      tokenVersion: integer("token_version").notNull().default(0),
      /** The `jti` of the token that made the latest password change. That token is still valid. */
      passwordChangeTokenId: text("password_change_token_id"),
      emailVerified: boolean("email_verified").notNull().default(false),
      createdAt: createdAt(),
      updatedAt: updatedAt(),
      /** The hash of another system. Valid only with the `hashedPassword` that was stored at the same time. */
      importedHash: text("imported_hash"),
      /** null: the user registered here, or was imported by a release that did not store the time. */
      importedAt: timestamp("imported_at"),
      roles: roles().notNull().default(sql`'[]'`),
      /** Incremented whenever a passkey is added or removed. An addition's signed challenge is valid for one revision only. */
      passkeyRevision: integer("passkey_revision").notNull().default(0),
      /** Identifies the user to authenticators, instead of the id. 16 random bytes in base64url. */
      passkeyUserHandle: text("passkey_user_handle"),
      /** The address of an unfinished change of e-mail. null: none. */
      pendingEmail: text("pending_email"),
      /** Incremented whenever a change of e-mail is requested, cancelled or confirmed. A link is valid for one revision only. */
      linkRevision: integer("link_revision").notNull().default(0),
      /** Incremented by each login with a code. A code is valid for one revision only. */
      loginCodeRevision: integer("login_code_revision").notNull().default(0),
      /** null: the user has not logged in since the column exists. */
      lastLoginAt: timestamp("last_login_at"),
      /** The id of the user's second factor in `factors`, so that no request needs a join. null: none. */
      factorId: text("factor_id"),
      /** Claims of the application, which only operators write. */
      claims: claims().notNull().default(sql`'{}'`),
      /** The language of pages and mails. null: never set. */
      locale: text(),
    },
    ({ id, email, username, importedHash, isActive, roles }) => [
      index("users_imported_index").on(id).where(isNotNull(importedHash)),
      index("users_inactive_index").on(id).where(isInactive(isActive)),
      index("users_roles_index").on(id).where(hasRoles(roles)),
      ...(isEmailIndexBinary ? [] : [index("users_email_prefix").on(binary(email))]),
      index("users_username_prefix").on(binary(sql`lower(${username})`)),
    ],
  );

  const todos = table("todos", {
    id: id(),
    title: text().notNull(),
    completed: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  });

  /** The networks from which a user has registered or logged in, as keyed digests. */
  const userNetworks = table(
    "user_networks",
    {
      userId: bigint("user_id")
        .notNull()
        .references(() => users.id, { onDelete: "cascade" }),
      networkDigest: text("network_digest").notNull(),
      lastSeenAt: timestamp("last_seen_at").notNull().default(now),
    },
    ({ userId, networkDigest }) => [primaryKey({ columns: [userId, networkDigest] })],
  );

  /** Passkeys (WebAuthn credentials). */
  const passkeys = table(
    "passkeys",
    {
      /** The credential id in base64url. */
      id: text("credential_id").primaryKey(),
      userId: bigint("user_id")
        .notNull()
        .references(() => users.id, { onDelete: "cascade" }),
      /** A COSE key (RFC 9052) in base64url. */
      publicKey: text("public_key").notNull(),
      /** The signature counter of the authenticator, an unsigned 32-bit integer. 0 if the authenticator does not count. */
      counter: bigint().notNull(),
      name: text().notNull(),
      /** A JSON object: the digest of each signed challenge that a recent login used, and its time of expiry. */
      usedStatements: text("used_statements").notNull().default("{}"),
      createdAt: createdAt(),
      lastUsedAt: timestamp("last_used_at"),
    },
    ({ userId }) => [index("passkeys_user_id").on(userId)],
  );

  /** Users of OpenID Connect providers, each of which can log in as one user. */
  const identities = table(
    "identities",
    {
      id: id(),
      userId: bigint("user_id")
        .notNull()
        .references(() => users.id, { onDelete: "cascade" }),
      issuer: text().notNull(),
      subject: text().notNull(),
      /** The configured name of the provider at the latest login. Several providers can have one issuer. */
      provider: text().notNull(),
      createdAt: createdAt(),
      lastUsedAt: timestamp("last_used_at"),
    },
    ({ userId, issuer, subject }) => [
      uniqueIndex("identities_issuer_subject").on(issuer, subject),
      index("identities_user_id").on(userId),
    ],
  );

  /** Second factors: a user has at most one, an application that shows codes (TOTP, RFC 6238). */
  const factors = table(
    "factors",
    {
      userId: bigint("user_id")
        .primaryKey()
        .references(() => users.id, { onDelete: "cascade" }),
      /** Also in `users.factor_id`. A replacement has another id. */
      id: text().notNull(),
      /** Encrypted with the key `keyId`, bound to the user and the factor. */
      secret: text().notNull(),
      keyId: text("key_id").notNull(),
      /** The time step of the latest accepted code: no code of it, or of an earlier one, is accepted again. */
      lastStep: bigint("last_step").notNull(),
      /** Attempts since the latest accepted code. */
      failures: integer().notNull().default(0),
      failedAt: timestamp("failed_at"),
      /** A JSON array: the digests of the unused recovery codes. */
      recoveryCodes: text("recovery_codes").notNull(),
      /** Whether the user's e-mail was verified when the factor was enrolled. */
      wasVerified: boolean("was_verified").notNull(),
      createdAt: createdAt(),
      lastUsedAt: timestamp("last_used_at"),
    },
    ({ keyId }) => [index("factors_key_id").on(keyId)],
  );

  /**
   * Waiting mails, and mails of the last 24 hours, which count in the budgets of recipients and as requests of users. `userId` is not a
   * foreign key, because a mail still counts after its user has been deleted. User ids are never reused.
   */
  const outbox = table(
    "outbox",
    {
      id: id(),
      /** `password`, `email`, `passkey`, `identity`, `takeover` and `deletion` notify the user of a change. */
      kind: text().$type<MailKind>().notNull(),
      /** null: no user had the e-mail of the request. */
      userId: bigint("user_id"),
      /** The digest of the mailbox. null until the mail counts in a budget, empty if the mail never counts in a budget. */
      emailDigest: text("email_digest"),
      attempts: integer().notNull().default(0),
      createdAt: createdAt(),
      attemptedAt: timestamp("attempted_at"),
      /** null: no further attempt will be made. */
      nextAttemptAt: timestamp("next_attempt_at").default(now),
      /** null: the mail is sent to the user's e-mail. The recipient is deleted as soon as the mail is sent. */
      recipient: text(),
      /**
       * Whether the recipient was verified when the mail was last counted in a budget; before that, when it was requested. null: no user
       * had the e-mail of the request, it is the new one of a change, or release 2.1 wrote the mail.
       */
      isRecipientVerified: boolean("is_recipient_verified"),
      /**
       * For a change of e-mail: a digest of the user's state at the time of the request. Mails of one request share it. For a login
       * code: the value to which the code belongs. For a deletion: the user's `locale`.
       */
      state: text(),
      /** The number of attempts to log in with the code of the mail. */
      codeAttempts: integer("code_attempts").notNull().default(0),
      /** Whether the code was requested from a familiar network of the user. */
      isFamiliar: boolean("is_familiar").notNull().default(false),
    },
    ({ userId, emailDigest, nextAttemptAt, state, isRecipientVerified, isFamiliar }) => [
      ...[emailDigest, nextAttemptAt].map((column) => index(`outbox_${column.name}`).on(column)),
      // With the state, an attempt with a code does not read the other mails of the user.
      index("outbox_user_state").on(userId, state),
      // Not partial: each request must write to the same indexes, so that its time does not reveal whether the e-mail is registered.
      index("outbox_verified").on(isRecipientVerified, isFamiliar, nextAttemptAt),
    ],
  );

  /**
   * Keyed digests of the e-mails that users gave up by deleting their account or changing their e-mail. Imports skip these
   * e-mails. Each row contains the key of its digest. Usually, all rows have the same key.
   */
  const deletedImports = table("deleted_imports", {
    emailDigest: text("email_digest").primaryKey(),
    digestKey: text("digest_key").notNull(),
    deletedAt: timestamp("deleted_at").notNull().default(now),
  });

  /** The keys of digests that must not change with the signing key. A migration creates each of them, so all replicas agree. */
  const digestKeys = table("digest_keys", {
    name: text().primaryKey(),
    key: text().notNull(),
  });

  /**
   * What happened to users, while recording is on. Triggers write the rows in the transaction of the change. Rows without a position
   * are not readable yet.
   */
  const events = table(
    "events",
    {
      id: id(),
      /** The order of the readers. null until the row is committed and numbered. */
      position: bigint(),
      type: text().notNull(),
      /** No foreign key, because the event of a deletion stays. null: the event concerns all users. */
      userId: bigint("user_id"),
      /** A JSON array: the names of the changed members. */
      changed: text().notNull().default("[]"),
      isActive: boolean("is_active"),
      tokenVersion: integer("token_version"),
      keptJti: text("kept_jti"),
      /** The time of the numbering, so that no event is older than its visibility. */
      createdAt: createdAt(),
    },
    ({ id, position, createdAt }) => [
      // Each event is in one index while it is written, and in the others after it was numbered.
      index("events_unnumbered").on(id).where(isNull(position)),
      uniqueIndex("events_position").on(position).where(isNotNull(position)),
      index("events_created_at").on(createdAt, position).where(isNotNull(position)),
    ],
  );

  /** One row: whether events are recorded, and the order of their readers. */
  const eventsState = table("events_state", {
    id: integer().primaryKey(),
    /** For how many days events are kept. null: nothing is recorded. */
    days: integer(),
    /** Cursors of another epoch are not valid. */
    epoch: text().notNull(),
    lastPosition: bigint("last_position").notNull().default(0),
  });

  return {
    users,
    todos,
    userNetworks,
    passkeys,
    identities,
    factors,
    outbox,
    deletedImports,
    digestKeys,
    events,
    eventsState,
  };
}

export type Tables = ReturnType<typeof createTables>;
export type User = Readonly<Tables["users"]["$inferSelect"]>;
export type Todo = Readonly<Tables["todos"]["$inferSelect"]>;
export type Passkey = Readonly<Tables["passkeys"]["$inferSelect"]>;
export type Identity = Readonly<Tables["identities"]["$inferSelect"]>;
export type Factor = Readonly<Tables["factors"]["$inferSelect"]>;
export type EventRow = Readonly<Tables["events"]["$inferSelect"]>;
export type OutboxRow = Readonly<Tables["outbox"]["$inferSelect"]>;
