/** Each database error has the same exit code as in the service, so that one set of supervisor rules fits both. */
import { expect, test } from "bun:test";
import { CliError, unavailable } from "@latchkey/cli";
import { UnsupportedDatabaseUrl } from "@latchkey/contracts";
import {
  DatabaseUnavailable,
  MigrationRejected,
  SchemaTooNew,
  UnsupportedDatabaseServer,
} from "@latchkey/database";
import { convertError } from "../src/program.ts";

test.each([
  { exitCode: 65, error: new SchemaTooNew() },
  { exitCode: 65, error: new MigrationRejected(new DatabaseUnavailable("42P07")) },
  { exitCode: 65, error: new UnsupportedDatabaseServer("it is too old.") },
  { exitCode: 69, error: new DatabaseUnavailable("DEADLINE") },
  { exitCode: 69, error: unavailable("Run `bun run migrate` first.") },
  { exitCode: 78, error: new UnsupportedDatabaseUrl("it names no host.") },
  { exitCode: 1, error: new Error("Something else failed.") },
] as const)('the exit code of "$error.message" is $exitCode', ({ exitCode, error }) => {
  const code = "code" in error ? error.code : "FAILED";
  expect(convertError(error)).toEqual(new CliError(error.message, exitCode, code));
});
