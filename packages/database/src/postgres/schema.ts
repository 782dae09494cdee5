/** The tables as PostgreSQL has them, in the schema `public`. Columns are named as the fields on the wire. */

import { sql } from "drizzle-orm";
import { bigint, boolean, customType, pgTable, text } from "drizzle-orm/pg-core";

export const now = sql`now()`;

/** What no time can be read from, `infinity` for one, is the epoch: one damaged value must not take the page it is on with it. */
function readTimestamp(value: unknown): Date {
  const date = value instanceof Date ? value : new Date(String(value));
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

/** Stored to the millisecond, because that is what a `Date` can hold and what the wire shows. */
const timestamp = customType<{ data: Date; driverData: Date | string }>({
  dataType: () => "timestamp (3) with time zone",
  fromDriver: readTimestamp,
  toDriver: (date) => date.toISOString(),
});

/** A sequence never goes back: a deleted account's token must never open a later account. */
const id = () => bigint({ mode: "number" }).primaryKey().generatedByDefaultAsIdentity();
const createdAt = () => timestamp("created_at").notNull().default(now);
const updatedAt = () => timestamp("updated_at").notNull().default(now);

export const users = pgTable("users", {
  id: id(),
  email: text().notNull().unique(),
  username: text().notNull().unique(),
  hashedPassword: text("hashed_password").notNull(),
  isActive: boolean("is_active").notNull().default(true),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

export const todos = pgTable("todos", {
  id: id(),
  title: text().notNull(),
  completed: boolean().notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});
