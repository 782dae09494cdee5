/** The tables as libsql has them. Columns are named as the fields on the wire, so that a row inserted by hand needs no guesswork. */

import { sql } from "drizzle-orm";
import { customType, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The database's clock as RFC 3339 text in UTC with milliseconds, so that text order is time order. */
export const now = sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Reads what the service writes and what a hand at a prompt may have: `datetime('now')` has no zone and means UTC.
 * What no time can be read from is the epoch: one damaged value must not take the page it is on with it.
 */
function readTimestamp(value: unknown): Date {
  if (typeof value !== "string") return new Date(0);
  const date = new Date(hasZone.test(value) ? value : `${value.replace(" ", "T")}Z`);
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

const timestamp = customType<{ data: Date; driverData: string }>({
  dataType: () => "text",
  fromDriver: readTimestamp,
  toDriver: (date) => date.toISOString(),
});

/** AUTOINCREMENT, because a deleted account's token must never open a later account. */
const id = () => integer().primaryKey({ autoIncrement: true });
const createdAt = () => timestamp("created_at").notNull().default(now);
const updatedAt = () => timestamp("updated_at").notNull().default(now);

export const users = sqliteTable("users", {
  id: id(),
  email: text().notNull().unique(),
  username: text().notNull().unique(),
  hashedPassword: text("hashed_password").notNull(),
  isActive: integer("is_active", { mode: "boolean" }).notNull().default(true),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

export const todos = sqliteTable("todos", {
  id: id(),
  title: text().notNull(),
  completed: integer({ mode: "boolean" }).notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});
