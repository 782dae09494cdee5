/** `migrate`: migrates the database schema. */
import { toJson, write, writeError } from "@latchkey/cli";
import { openDatabase } from "@latchkey/database";
import { Command } from "commander";
import { readOptions } from "../database.ts";
import type { Variables } from "../environment.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

export function migrateCommand(variables: Variables): Command {
  return withExamples(
    new Command("migrate"),
    ["bun run migrate", "DATABASE_URL_FILE=/run/secrets/database-url bun run migrate"],
    "Creates the file that DATABASE_URL names if it does not exist. Can be repeated,\nalso concurrently. The service migrates when it starts; of the other commands,\nonly copy (its target), raise-ids and restore (the backup) do.",
  )
    .description("migrate the database schema to this release")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: { json?: boolean }) => {
      await using database = await openDatabase(readOptions(variables));
      const schema = await database.migrate((message) => writeError(`${message}\n`));
      const which = schema === "newer" ? "a newer schema that is compatible with" : "the schema of";
      const text = `The ${database.kind} database has ${which} this release.`;
      await write(`${json ? toJson({ database: database.kind, schema }) : text}\n`);
    });
}
