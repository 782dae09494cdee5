/** The PostgreSQL tables. Columns have the names of the JSON fields. */
import type { MailKind } from "@latchkey/contracts";
import { isNotNull, type Placeholder, type SQLWrapper, sql } from "drizzle-orm";
import { bigint, boolean, customType, index, integer, PgSchema, primaryKey, text } from "drizzle-orm/pg-core";
import { ROLES_TYPE } from "../roles.ts";
import { toTimestamp } from "../timestamp.ts";

export const now = sql`now()`;

/** Ends a query whose rows must not change before the end of its transaction. */
export const forShare = sql`for share`;

/** The time in this many seconds; a negative number is in the past. */
export const later = (seconds: number) => sql`now() + make_interval(secs => ${seconds}::float8)`;

/** Ends a query for a row that no other transaction is changing. */
export const skipLocked = sql`for update skip locked`;

/** Waits for other transactions that have locked the same text, and locks it until the end of its own. */
export const lockText = (text: string) =>
  sql<unknown>`pg_advisory_xact_lock(hashtextextended(${text}::text, 0))::text`;

/**
 * Follows a column: whether its value is an element of the JSON array. Unlike a subquery after `in`, it uses an index; and
 * the client would encode a text as JSON again if the parameter had that type.
 */
export const isElementOf = (json: Placeholder) =>
  sql`= any (array(select json_array_elements_text(${json}::text::json)))`;

/** The highest user id ever used, also if that user was deleted; after a restart, the sequence has the first id to use. */
export const lastId = sql<
  number | string
>`(select last_value - (not is_called)::int from public.users_id_seq)`;

/** Never lowers it: the lock waits for transactions that have taken an id, and no other one takes one meanwhile. */
export const raiseLastId = (id: number) => [
  sql`lock table public.users in share row exclusive mode`,
  sql`select setval('public.users_id_seq', ${id}::bigint) where ${lastId} < ${id}::bigint`,
];

/** The members of a JSON object, as the columns `key` and `value` of a table; and the function that makes an object of them. */
export const jsonMembers = (json: SQLWrapper) => sql`json_each_text(${json}::json)`;
export const jsonObject = sql`json_object_agg`;

/** An invalid value, such as `infinity`, is read as the epoch, so that one damaged row does not make a whole page fail. */
const readTimestamp = (value: unknown): string =>
  toTimestamp(value instanceof Date ? value : new Date(String(value)));

/** Milliseconds, because the JSON timestamps have no higher precision. */
const timestamp = customType<{ data: string; driverData: Date | string }>({
  dataType: () => "timestamp (3) with time zone",
  fromDriver: readTimestamp,
});

/** An identity column never reuses an id, so that a deleted user's token cannot give access to a later account. */
const id = () => bigint({ mode: "number" }).primaryKey().generatedByDefaultAsIdentity();
const roles = customType<{ data: string[]; driverData: string }>(ROLES_TYPE);
const createdAt = () => timestamp("created_at").notNull().default(now);
const updatedAt = () => timestamp("updated_at").notNull().default(now);

/** Qualifies each table, because a connection pooler does not keep a `search_path`. `pgSchema` rejects this name. */
const schema = new PgSchema("public");

export const users = schema.table(
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
    /** Incremented whenever a passkey is added or removed, so that the statement of an addition works once. */
    passkeyRevision: integer("passkey_revision").notNull().default(0),
    /** Identifies the user to authenticators in place of the id: 16 random bytes, base64url. */
    passkeyUserHandle: text("passkey_user_handle"),
  },
  ({ id, importedHash }) => [index("users_imported_index").on(id).where(isNotNull(importedHash))],
);

export const todos = schema.table("todos", {
  id: id(),
  title: text().notNull(),
  completed: boolean().notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

/** The networks from which a user has registered or logged in, as keyed digests. */
export const userNetworks = schema.table(
  "user_networks",
  {
    userId: bigint("user_id", { mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    networkDigest: text("network_digest").notNull(),
    lastSeenAt: timestamp("last_seen_at").notNull().default(now),
  },
  ({ userId, networkDigest }) => [primaryKey({ columns: [userId, networkDigest] })],
);

/** Passkeys (WebAuthn credentials). */
export const passkeys = schema.table(
  "passkeys",
  {
    /** base64url. */
    id: text("credential_id").primaryKey(),
    userId: bigint("user_id", { mode: "number" })
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    /** COSE (RFC 9052), base64url. */
    publicKey: text("public_key").notNull(),
    /** Of the authenticator, 32 bits without a sign; 0 if it does not count. */
    counter: bigint({ mode: "number" }).notNull(),
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
export const outbox = schema.table(
  "outbox",
  {
    id: id(),
    /** `password` and `email`: the notifications of a new one. */
    kind: text().$type<MailKind>().notNull(),
    /** null: no user has the e-mail of the request. */
    userId: bigint("user_id", { mode: "number" }),
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
export const deletedImports = schema.table("deleted_imports", {
  emailDigest: text("email_digest").primaryKey(),
  digestKey: text("digest_key").notNull(),
  deletedAt: timestamp("deleted_at").notNull().default(now),
});
