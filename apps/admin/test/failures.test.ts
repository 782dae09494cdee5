/** The exit code of each kind of database fault, the same as the service's, so that one supervisor's rules fit both. */
import { expect, test } from "bun:test";
import {
  DatabaseUnavailable,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UnsupportedDatabaseUrl,
} from "@latchkey/database";
import { describeFailure, SchemaMissing } from "../src/failures.ts";

test.each([
  { exitCode: 65, error: new SchemaTooNew() },
  { exitCode: 65, error: new UnsupportedDatabaseServer("it is too old.") },
  { exitCode: 69, error: new DatabaseUnavailable("DEADLINE") },
  { exitCode: 69, error: new SchemaMissing("run `bun run migrate` first.") },
  { exitCode: 78, error: new UnsupportedDatabaseUrl("it names no host.") },
])("$exitCode: $error.message", ({ exitCode, error }) => {
  expect(describeFailure(error)).toEqual({ exitCode, text: error.message });
});
