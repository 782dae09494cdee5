/** `raise-ids`: what a database needs that can have lost transactions. `restore` does the same for an embedded database. */
import { parseWholeNumber, toJson, write, writeError } from "@latchkey/cli";
import { ID_MAX } from "@latchkey/contracts";
import { type LastIds, raiseDatabaseIds } from "@latchkey/database";
import { Command } from "commander";
import { expectFile, readOptions } from "../database.ts";
import type { Variables } from "../environment.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

export const WITHOUT_PASSKEYS_OPTION = [
  "--without-passkeys",
  "delete all passkeys and identities, also those that users have removed since",
] as const;

export const keyWarning = (event: "restore" | "import"): string =>
  `Set a new AUTH_SECRET_KEY or AUTH_PRIVATE_KEY before you start the service, and remove AUTH_SECRET_KEY_PREVIOUS, AUTH_NEXT_PUBLIC_KEY and AUTH_PREVIOUS_PUBLIC_KEY: tokens from before the ${event} can belong to other users.\n`;

export const describeLastIds = ({ users, todos }: LastIds): string =>
  `New users get ids above ${users}, new todos above ${todos}. All tokens are revoked.`;

export const raiseIdsCommand = (variables: Variables): Command =>
  withExamples(
    new Command("raise-ids"),
    ["bun run admin raise-ids", "bun run admin raise-ids --by 5000000 --without-passkeys"],
    "After pg_restore, or after a failover that lost transactions. Otherwise, new\nusers get ids of users who are lost. Stop the service first: the command is\nrefused while another session uses the database. Connect without a pooler. It\nmigrates the database.",
  )
    .description("make new ids higher than lost ones, and revoke all tokens")
    .option("--by <number>", "how many ids can be lost", "1000000")
    .option(...WITHOUT_PASSKEYS_OPTION)
    .option(...JSON_OPTION)
    .action(async (options: { by: string; withoutPasskeys?: boolean; json?: boolean }) => {
      const by = parseWholeNumber({ name: "--by", text: options.by }, { min: 1, max: ID_MAX });
      const database = readOptions(variables);
      expectFile(database);
      const { withoutPasskeys = false, json = false } = options;
      const lastIds = await raiseDatabaseIds(database, { by, withoutPasskeys });
      await write(`${json ? toJson({ last_ids: lastIds }) : describeLastIds(lastIds)}\n`);
      if (!json) writeError(`After a restore: ${keyWarning("restore")}`);
    });
