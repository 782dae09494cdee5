/** Drizzle's builders for the columns and tables of libsql. */
import type { Claims } from "@latchkey/contracts";
import { type SQLWrapper, sql } from "drizzle-orm";
import { customType, integer } from "drizzle-orm/sqlite-core";
import { CLAIMS_TYPE } from "../claims.ts";
import { ROLES_TYPE } from "../roles.ts";
import { EPOCH, toTimestamp } from "../timestamp.ts";

export {
  getTableConfig,
  index,
  integer,
  integer as bigint,
  primaryKey,
  sqliteTable as table,
  text,
  uniqueIndex,
} from "drizzle-orm/sqlite-core";

/** The current time of the database, as RFC 3339 text in UTC with milliseconds. Such texts sort in the order of their times. */
export const now = sql`(strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))`;

/** Matches the texts that `now` produces, except those with February 29, because this date is not valid in every year. */
const CANONICAL =
  /^\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const TIME_ZONE = /(?:Z|[+-]\d\d:?\d\d)$/i;

/**
 * Returns the canonical text. An operator can have stored another form, such as `datetime('now')`, which has no time zone and
 * means UTC. An invalid value is read as the epoch, because one damaged row must not make a whole page fail.
 */
export function readTimestamp(value: unknown): string {
  if (typeof value !== "string") return EPOCH;
  if (CANONICAL.test(value)) return value;
  return toTimestamp(new Date(TIME_ZONE.test(value) ? value : `${value.replace(" ", "T")}Z`));
}

export const timestamp = customType<{ data: string; driverData: string }>({
  dataType: () => "text",
  fromDriver: readTimestamp,
});

export const roles = customType<{ data: string[]; driverData: string }>(ROLES_TYPE);
export const claims = customType<{ data: Claims; driverData: string }>(CLAIMS_TYPE);

export const boolean = (name = "") => integer(name, { mode: "boolean" });

/** AUTOINCREMENT never reuses an id, so a deleted user's token cannot give access to a later account. */
export const id = () => integer().primaryKey({ autoIncrement: true });

/** All indexes compare texts by their bytes. */
export const binary = (expression: SQLWrapper) => sql`${expression}`;
export const isEmailIndexBinary = true;
