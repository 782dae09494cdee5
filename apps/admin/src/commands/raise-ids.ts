/**
 * `raise-ids`: what a database needs that can have lost transactions, or the states of its sequences. `restore` does the same for an
 * embedded database.
 */
import { parseWholeNumber, toJson, usageError, write, writeError } from "@latchkey/cli";
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

export const WITHOUT_FACTORS_OPTION = [
  "--without-factors",
  "delete all second factors, for example because their key is lost",
] as const;

export const keyWarning = (event: "restore" | "import"): string =>
  `Set a new AUTH_SECRET_KEY or AUTH_PRIVATE_KEY before you start the service, and remove AUTH_SECRET_KEY_PREVIOUS, AUTH_NEXT_PUBLIC_KEY and AUTH_PREVIOUS_PUBLIC_KEY: tokens from before the ${event} can belong to other users.\n`;

const describeIds = ({ users, todos }: LastIds): string =>
  `New users get ids above ${users}, new todos above ${todos}.`;

export const describeLastIds = (lastIds: LastIds): string =>
  `${describeIds(lastIds)} All tokens are revoked.`;

interface RaiseIdsOptions {
  readonly by: string;
  readonly keepTokens?: boolean;
  readonly withoutPasskeys?: boolean;
  readonly withoutFactors?: boolean;
  readonly json?: boolean;
}

export const raiseIdsCommand = (variables: Variables): Command =>
  withExamples(
    new Command("raise-ids"),
    [
      "bun run admin raise-ids",
      "bun run admin raise-ids --by 5000000 --without-passkeys",
      "bun run admin raise-ids --keep-tokens",
    ],
    "After pg_restore, or after a failover that lost transactions. Otherwise, new\nusers get ids of users who are lost. After a move that lost nothing, such as\nlogical replication, which copies no sequences: with --keep-tokens, which\nraises the ids of all tables and changes nothing else. Stop the service first:\nthe command is refused while another session uses the database. Connect without\na pooler. It migrates the database.",
  )
    .description("make new ids higher than used ones, and revoke all tokens")
    .option("--by <number>", "how many ids can be lost", "1000000")
    .option("--keep-tokens", "only make new ids higher: no transaction is lost")
    .option(...WITHOUT_PASSKEYS_OPTION)
    .option(...WITHOUT_FACTORS_OPTION)
    .option(...JSON_OPTION)
    .action(async (options: RaiseIdsOptions) => {
      const { withoutPasskeys = false, withoutFactors = false, keepTokens = false, json = false } = options;
      if (keepTokens && (withoutPasskeys || withoutFactors))
        throw usageError(
          `--keep-tokens and --without-${withoutPasskeys ? "passkeys" : "factors"} cannot be combined.`,
        );
      const by = parseWholeNumber({ name: "--by", text: options.by }, { min: 1, max: ID_MAX });
      const database = readOptions(variables);
      expectFile(database);
      const lastIds = await raiseDatabaseIds(database, {
        by,
        withoutPasskeys,
        withoutFactors,
        keepsTokens: keepTokens,
      });
      const text = keepTokens ? `${describeIds(lastIds)} Nothing else is changed.` : describeLastIds(lastIds);
      await write(`${json ? toJson({ last_ids: lastIds }) : text}\n`);
      if (!json && !keepTokens) writeError(`After a restore: ${keyWarning("restore")}`);
    });
