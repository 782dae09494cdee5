/** The libsql tables. drizzle-kit makes the migrations from the exported tables. */
import { withPostgresTypes } from "../dialect.ts";
import { type Columns, createTables } from "../tables.ts";
import * as sqliteColumns from "./columns.ts";

export const columns = withPostgresTypes<Columns>(sqliteColumns);
export const tables = createTables(columns);
export const {
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
} = tables;
