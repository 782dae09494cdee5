/** The libsql tables. Columns have the names of the JSON fields; `postgres/schema.ts` describes them. */
import type { MailKind } from "@latchkey/contracts";
import { isNotNull, type Placeholder, type SQLWrapper, sql } from "drizzle-orm";
import { customType, index, integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { ROLES_TYPE } from "../roles.ts";
import { EPOCH, toTimestamp } from "../timestamp.ts";

/** The database's clock as RFC 3339 text in UTC with milliseconds, so that text order is time order. */
export const now = sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

/** The time in this many seconds; a negative number is in the past. */
export const later = (seconds: number) =>
  sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ${`${seconds} seconds`}))`;

/** Empty, because a writing transaction locks the file. */
export const forShare = sql``;
export const skipLocked = sql``;
export const lockText = (_: string) => sql<unknown>`null`;

/** Follows a column: whether its value is an element of the JSON array. */
export const isElementOf = (json: Placeholder) => sql`in (select value from json_each(${json}))`;

export const lastId = sql<
  number | string
>`coalesce((select seq from sqlite_sequence where name = 'users'), 0)`;

export const raiseLastId = (id: number) => [
  sql`insert into sqlite_sequence select 'users', 0 where not exists (select 1 from sqlite_sequence where name = 'users')`,
  sql`update sqlite_sequence set seq = max(seq, ${id}) where name = 'users'`,
];

/** The members of a JSON object, as the columns `key` and `value` of a table; and the function that makes an object of them. */
export const jsonMembers = (json: SQLWrapper) => sql`json_each(${json})`;
export const jsonObject = sql`json_group_object`;

/** Matches exactly the texts that `now` produces; February 29 depends on the year and is not included. */
const CANONICAL =
  /^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const TIME_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Returns the canonical text. Also reads timestamps that an operator wrote: `datetime('now')` has no time zone and means
 * UTC. An invalid value is read as the epoch, so that one damaged row does not make a whole page fail.
 */
export function readTimestamp(value: unknown): string {
  if (typeof value !== "string") return EPOCH;
  if (CANONICAL.test(value)) return value;
  return toTimestamp(new Date(TIME_ZONE.test(value) ? value : `${value.replace(" ", "T")}Z`));
}

const timestamp = customType<{ data: string; driverData: string }>({
  dataType: () => "text",
  fromDriver: readTimestamp,
});

/** AUTOINCREMENT never reuses an id, so that a deleted user's token cannot give access to a later account. */
const id = () => integer().primaryKey({ autoIncrement: true });
const roles = customType<{ data: string[]; driverData: string }>(ROLES_TYPE);
const createdAt = () => timestamp("created_at").notNull().default(now);
const updatedAt = () => timestamp("updated_at").notNull().default(now);

export const users = sqliteTable(
  "users",
  {
    id: id(),
    email: text().notNull().unique(),
    username: text().notNull().unique(),
    hashedPassword: text("hashed_password").notNull(),
    isActive: integer("is_active", { mode: "boolean" }).notNull().default(true),
    tokenVersion: integer("token_version").notNull().default(0),
    passwordChangeTokenId: text("password_change_token_id"),
    emailVerified: integer("email_verified", { mode: "boolean" }).notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
    importedHash: text("imported_hash"),
    importedAt: timestamp("imported_at"),
    roles: roles().notNull().default(sql`'[]'`),
    passkeyRevision: integer("passkey_revision").notNull().default(0),
    passkeyUserHandle: text("passkey_user_handle"),
  },
  ({ id, importedHash }) => [index("users_imported_index").on(id).where(isNotNull(importedHash))],
);

export const todos = sqliteTable("todos", {
  id: id(),
  title: text().notNull(),
  completed: integer({ mode: "boolean" }).notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

export const userNetworks = sqliteTable(
  "user_networks",
  {
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    networkDigest: text("network_digest").notNull(),
    lastSeenAt: timestamp("last_seen_at").notNull().default(now),
  },
  ({ userId, networkDigest }) => [primaryKey({ columns: [userId, networkDigest] })],
);

export const passkeys = sqliteTable(
  "passkeys",
  {
    id: text("credential_id").primaryKey(),
    userId: integer("user_id")
      .notNull()
      .references(() => users.id, { onDelete: "cascade" }),
    publicKey: text("public_key").notNull(),
    counter: integer().notNull(),
    name: text().notNull(),
    usedStatements: text("used_statements").notNull().default("{}"),
    createdAt: createdAt(),
    lastUsedAt: timestamp("last_used_at"),
  },
  ({ userId }) => [index("passkeys_user_id").on(userId)],
);

export const outbox = sqliteTable(
  "outbox",
  {
    id: id(),
    kind: text().$type<MailKind>().notNull(),
    userId: integer("user_id"),
    emailDigest: text("email_digest"),
    attempts: integer().notNull().default(0),
    createdAt: createdAt(),
    attemptedAt: timestamp("attempted_at"),
    nextAttemptAt: timestamp("next_attempt_at").default(now),
    dueAt: timestamp("due_at"),
    recipient: text(),
    isRecipientVerified: integer("is_recipient_verified", { mode: "boolean" }),
    state: text(),
  },
  ({ userId, emailDigest, nextAttemptAt, dueAt }) =>
    [userId, emailDigest, nextAttemptAt, dueAt].map((column) => index(`outbox_${column.name}`).on(column)),
);

export const deletedImports = sqliteTable("deleted_imports", {
  emailDigest: text("email_digest").primaryKey(),
  digestKey: text("digest_key").notNull(),
  deletedAt: timestamp("deleted_at").notNull().default(now),
});
