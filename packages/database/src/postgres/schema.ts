/** The PostgreSQL tables. drizzle-kit makes the migrations from the exported tables. */
import { createTables } from "../tables.ts";
import * as columns from "./columns.ts";

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
