/** The exit code of each error that the database package throws while the service starts. */
import { expect, test } from "bun:test";
import {
  DatabaseUnavailable,
  MigrationRejected,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UnsupportedDatabaseUrl,
} from "@latchkey/database";
import { databaseStartupError, EXIT } from "../../src/lifecycle/startup-errors.ts";

test.each([
  ["UnsupportedDatabaseUrl", new UnsupportedDatabaseUrl("x"), EXIT.configuration],
  ["MigrationRejected", new MigrationRejected(new DatabaseUnavailable("42P07")), EXIT.migration],
  ["DatabaseUnavailable", new DatabaseUnavailable("28P01"), EXIT.database],
  ["SchemaTooNew", new SchemaTooNew(), EXIT.migration],
  ["UnsupportedDatabaseServer", new UnsupportedDatabaseServer("x"), EXIT.migration],
  ["a bug in a migration", new TypeError("x"), EXIT.migration],
])("%s has its own exit code", (_name, error, exitCode) => {
  expect(databaseStartupError(error)).toMatchObject({ exitCode });
});
