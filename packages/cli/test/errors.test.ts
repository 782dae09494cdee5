/** The exit code of each error that the database package throws, which the service and the admin tool share. */
import { expect, test } from "bun:test";
import { databaseError, EXIT } from "@latchkey/cli";

test.each([
  ["UNSUPPORTED_DATABASE_URL", 78],
  ["DATABASE_UNAVAILABLE", 69],
  ["UNSUPPORTED_DATABASE_SERVER", 65],
  ["INVALID_BACKUP", 65],
  ["SCHEMA_TOO_NEW", 65],
  ["MIGRATION_REJECTED", 65],
  ["another code", 1],
])("the exit code of %s is %i", (code, exitCode) => {
  const error = Object.assign(new Error("A sentence."), { code });
  expect(databaseError(error, EXIT.failed)).toMatchObject({ message: "A sentence.", exitCode, code });
});

test("an error without a code gets the one of the exit code", () => {
  const error = databaseError(new TypeError("x"), EXIT.dataError);
  expect(error).toMatchObject({ exitCode: 65, code: "DATA_ERROR" });
});
