/** `migrate`: the schema. */
import { Command } from "commander";
import { migrateDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { toJson, write } from "../output.ts";
import { JSON_OPTION, teach } from "./help.ts";

export function migrateCommand(variables: Variables): Command {
  const command = new Command("migrate")
    .description("bring the database's schema up to this release")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: { json?: boolean }) => {
      const database = await migrateDatabase(variables);
      await write(
        json ? `${toJson({ database })}\n` : `The ${database} database has the schema of this release.\n`,
      );
    });
  return teach(
    command,
    ["bun run migrate", "DATABASE_URL_FILE=/run/secrets/database-url bun run migrate"],
    "Makes the file of an embedded database if it is not there. Safe to run\nagain, and while others do. The service does the same when it starts; the other\ncommands never do.",
  );
}
