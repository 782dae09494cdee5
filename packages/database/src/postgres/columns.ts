/** Drizzle's builders for the columns and tables of PostgreSQL. */
import type { Claims } from "@latchkey/contracts";
import { type SQLWrapper, sql } from "drizzle-orm";
import { bigint as bigintColumn, customType, PgSchema } from "drizzle-orm/pg-core";
import { CLAIMS_TYPE } from "../claims.ts";
import { ROLES_TYPE } from "../roles.ts";
import { toTimestamp } from "../timestamp.ts";

export { boolean, getTableConfig, index, integer, primaryKey, text, uniqueIndex } from "drizzle-orm/pg-core";

/**
 * Qualifies each table with its schema, because a connection pooler does not keep a `search_path`. The class `PgSchema` is
 * used because Drizzle's function `pgSchema` rejects the name `public`.
 */
export const { table } = new PgSchema("public");

export const now = sql`now()`;

/** Reads an invalid value, such as `infinity`, as the epoch, because one damaged row must not make a whole page fail. */
const readTimestamp = (value: unknown): string =>
  toTimestamp(value instanceof Date ? value : new Date(String(value)));

/** The precision is milliseconds, because the JSON timestamps have no higher precision. */
export const timestamp = customType<{ data: string; driverData: Date | string }>({
  dataType: () => "timestamp (3) with time zone",
  fromDriver: readTimestamp,
});

export const roles = customType<{ data: string[]; driverData: string }>(ROLES_TYPE);
export const claims = customType<{ data: Claims; driverData: string }>(CLAIMS_TYPE);

export const bigint = (name = "") => bigintColumn(name, { mode: "number" });

/** An identity column never reuses an id, so a deleted user's token cannot give access to a later account. */
export const id = () => bigint().primaryKey().generatedByDefaultAsIdentity();

/** Compares texts by their bytes. An index of another collation does not find the texts that begin with a given one. */
export const binary = (expression: SQLWrapper) => sql`(${expression} collate "C")`;

/** The index of the constraint has the collation of the database. */
export const isEmailIndexBinary = false;
