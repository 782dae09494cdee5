/** The tables of both databases. Columns have the names of the JSON fields. */
import type { MailKind } from "@latchkey/contracts";
import { isNotNull, sql } from "drizzle-orm";
import type * as postgresColumns from "./postgres/columns.ts";

/** Builders of Drizzle for one kind of database. The types are those of PostgreSQL. */
export type Columns = typeof postgresColumns;

/**
 * The cast is safe because Drizzle's builders for PostgreSQL and SQLite differ in their types, but not in the methods that
 * `createTables` and the repositories call, nor in the types of the rows.
 */
export const toColumns = (columns: Readonly<Record<keyof Columns, unknown>>): Columns => columns as Columns;

export function createTables(columns: Columns) {
  const { bigint, boolean, id, index, integer, now, primaryKey, roles, table, text, timestamp } = columns;
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
      /** A token is revoked if its version differs, unless it is the one below. */
      tokenVersion: integer("token_version").notNull().default(0),
      /** The `jti` of the token that made the latest password change. That token is still valid. */
      passwordChangeTokenId: text("password_change_token_id"),
      emailVerified: boolean("email_verified").notNull().default(false),
      createdAt: createdAt(),
      updatedAt: updatedAt(),
      /** The hash of another system, which is valid only together with the `hashedPassword` that was stored with it. */
      importedHash: text("imported_hash"),
      /** null: registered here, or imported by a release that did not store it. */
      importedAt: timestamp("imported_at"),
      roles: roles().notNull().default(sql`'[]'`),
      /** Incremented whenever a passkey is added or removed: the statement of an addition works once. */
      passkeyRevision: integer("passkey_revision").notNull().default(0),
      /** Identifies the user to authenticators in place of the id: 16 random bytes, base64url. */
      passkeyUserHandle: text("passkey_user_handle"),
    },
    ({ id, importedHash }) => [index("users_imported_index").on(id).where(isNotNull(importedHash))],
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
      /** base64url. */
      id: text("credential_id").primaryKey(),
      userId: bigint("user_id")
        .notNull()
        .references(() => users.id, { onDelete: "cascade" }),
      /** COSE (RFC 9052), base64url. */
      publicKey: text("public_key").notNull(),
      /** Of the authenticator, 32 bits without a sign; 0 if it does not count. */
      counter: bigint().notNull(),
      name: text().notNull(),
      /** The digests of the statements of recent logins, and when these expire: a JSON object. */
      usedStatements: text("used_statements").notNull().default("{}"),
      createdAt: createdAt(),
      lastUsedAt: timestamp("last_used_at"),
    },
    ({ userId }) => [index("passkeys_user_id").on(userId)],
  );

  /**
   * Mails that wait, and those of the last 24 hours, which count for the budgets of their recipients. No foreign key: a mail
   * still counts after its user has been deleted, and ids are never reused.
   */
  const outbox = table(
    "outbox",
    {
      id: id(),
      /** `password` and `email`: the notifications of a new one. */
      kind: text().$type<MailKind>().notNull(),
      /** null: no user has the e-mail of the request. */
      userId: bigint("user_id"),
      /** Of the mailbox, once the mail is counted in its budget; empty if no budget counts it. */
      emailDigest: text("email_digest"),
      attempts: integer().notNull().default(0),
      createdAt: createdAt(),
      attemptedAt: timestamp("attempted_at"),
      /** null: sent, or rejected for good, or `dueAt` is set. */
      nextAttemptAt: timestamp("next_attempt_at").default(now),
      /**
       * In place of `nextAttemptAt` for mails that an earlier release must neither claim nor delete, because it does not know their
       * kind or their recipient.
       */
      dueAt: timestamp("due_at"),
      /** null: the e-mail of the user. Stored until the mail is sent. */
      recipient: text(),
      isRecipientVerified: boolean("is_recipient_verified"),
      /** Of a change of e-mail: a digest of what its user was at the request. */
      state: text(),
    },
    ({ userId, emailDigest, nextAttemptAt, dueAt }) =>
      [userId, emailDigest, nextAttemptAt, dueAt].map((column) => index(`outbox_${column.name}`).on(column)),
  );

  /** The imported users who deleted their account: a later import skips them. Each digest has its key; usually all have the same. */
  const deletedImports = table("deleted_imports", {
    emailDigest: text("email_digest").primaryKey(),
    digestKey: text("digest_key").notNull(),
    deletedAt: timestamp("deleted_at").notNull().default(now),
  });

  return { users, todos, userNetworks, passkeys, outbox, deletedImports };
}

type Tables = ReturnType<typeof createTables>;
export type User = Readonly<Tables["users"]["$inferSelect"]>;
export type Todo = Readonly<Tables["todos"]["$inferSelect"]>;
export type Passkey = Readonly<Tables["passkeys"]["$inferSelect"]>;
export type OutboxRow = Readonly<Tables["outbox"]["$inferSelect"]>;
