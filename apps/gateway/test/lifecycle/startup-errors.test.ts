/** The exit code of each error that the database package throws while the service starts. */
import { expect, test } from "bun:test";
import {
  DatabaseUnavailable,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UnsupportedDatabaseUrl,
} from "@latchkey/database";
import { databaseStartupError, EXIT } from "../../src/lifecycle/startup-errors.ts";

test.each([
  ["UnsupportedDatabaseUrl", new UnsupportedDatabaseUrl("x"), EXIT.configuration],
  ["SchemaTooNew", new SchemaTooNew(), EXIT.migration],
  ["UnsupportedDatabaseServer", new UnsupportedDatabaseServer("x"), EXIT.migration],
  ["a bug in a migration", new TypeError("x"), EXIT.migration],
])("%s has its own exit code", (_name, error, exitCode) => {
  expect(databaseStartupError(error)).toMatchObject({ exitCode });
});

test.each([
  ["DEADLINE", EXIT.database],
  ["28P01", EXIT.database],
  ["53300", EXIT.database],
  ["ERR_POSTGRES_CONNECTION_REFUSED", EXIT.database],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", EXIT.database],
  ["SQLITE_CANTOPEN", EXIT.database],
  ["SQLITE_NOTADB", EXIT.database],
  ["SQLITE_BUSY", EXIT.database],
  ["42P07", EXIT.migration],
  ["42501", EXIT.migration],
  ["SQLITE_ERROR", EXIT.migration],
])("a database that is unavailable because of %s ends the start with %d", (reason, exitCode) => {
  expect(databaseStartupError(new DatabaseUnavailable(reason))).toMatchObject({ exitCode });
});
