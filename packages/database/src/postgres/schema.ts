/** The PostgreSQL tables. Columns have the names of the JSON fields. */
import { sql } from "drizzle-orm";
import { bigint, boolean, customType, PgSchema, text } from "drizzle-orm/pg-core";

export const now = sql`now()`;

/** An invalid value, such as `infinity`, is read as the epoch, so that one damaged row does not make a whole page fail. */
function readTimestamp(value: unknown): Date {
  const date = value instanceof Date ? value : new Date(String(value));
  return Number.isNaN(date.getTime()) ? new Date(0) : date;
}

/** Milliseconds, because a `Date` and the JSON timestamps have no higher precision. */
const timestamp = customType<{ data: Date; driverData: Date | string }>({
  dataType: () => "timestamp (3) with time zone",
  fromDriver: readTimestamp,
  toDriver: (date) => date.toISOString(),
});

/** An identity column never reuses an id, so that a deleted user's token cannot give access to a later account. */
const id = () => bigint({ mode: "number" }).primaryKey().generatedByDefaultAsIdentity();
const createdAt = () => timestamp("created_at").notNull().default(now);
const updatedAt = () => timestamp("updated_at").notNull().default(now);

/** Qualifies each table, because a connection pooler does not keep a `search_path`. `pgSchema` rejects this name. */
const schema = new PgSchema("public");

export const users = schema.table("users", {
  id: id(),
  email: text().notNull().unique(),
  username: text().notNull().unique(),
  hashedPassword: text("hashed_password").notNull(),
  isActive: boolean("is_active").notNull().default(true),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});

export const todos = schema.table("todos", {
  id: id(),
  title: text().notNull(),
  completed: boolean().notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
});
