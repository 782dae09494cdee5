/** `factors …`: the keys that encrypt second factors, and the end of all of them. */
import { createFactorCipher } from "@latchkey/administration";
import { CliError, EXIT, toJson, write } from "@latchkey/cli";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import { readVariables, type Variables } from "../environment.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

const PAGE_SIZE = 500;

interface Options {
  readonly json?: boolean;
}

const rekeyCommand = (variables: Variables): Command =>
  withExamples(
    new Command("rekey"),
    ["bun run admin factors rekey"],
    "To replace the key: set the new one as AUTH_FACTOR_KEY_PREVIOUS on all replicas,\nthen as AUTH_FACTOR_KEY, with the old one as AUTH_FACTOR_KEY_PREVIOUS. Then run\nthis command with both variables, and remove the old key. The command runs\nbeside the service, and can be repeated.",
  )
    .description("encrypt all second factors with the present AUTH_FACTOR_KEY")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: Options) => {
      const { AUTH_FACTOR_KEY: key, AUTH_FACTOR_KEY_PREVIOUS: previous } = readVariables(
        ["AUTH_FACTOR_KEY", "AUTH_FACTOR_KEY_PREVIOUS"],
        variables,
      );
      if (key === null) throw new CliError("AUTH_FACTOR_KEY: is not set", EXIT.config);
      const cipher = createFactorCipher([key, ...(previous === null ? [] : [previous])]);
      await withDatabase(variables, async ({ factors }) => {
        const unknown = (await factors.listKeyIds()).filter((id) => !cipher.keyIds.includes(id));
        if (unknown.length > 0)
          throw new CliError(
            `AUTH_FACTOR_KEY_PREVIOUS: is not the key of all second factors; missing: ${unknown.join(", ")}`,
            EXIT.config,
          );
        let [count, after] = [0, 0];
        for (;;) {
          const page = await factors.listOfOtherKeys(cipher.keyId, { after, limit: PAGE_SIZE });
          for (const factor of page)
            await factors.rekey(factor, cipher.encrypt(cipher.decrypt(factor), factor));
          const last = page.at(-1);
          if (!last) break;
          count += page.length;
          after = last.userId;
        }
        await write(`${json ? toJson({ rekeyed: count }) : `Encrypted ${count} second factors anew.`}\n`);
      });
    });

const removeCommand = (variables: Variables): Command =>
  withExamples(
    new Command("remove"),
    ["bun run admin factors remove --all"],
    "For a lost AUTH_FACTOR_KEY, or before a rollback to a release without second\nfactors. All users then log in without a code, and their tokens end. To remove\nthe one of a user: bun run admin users remove-factor EMAIL",
  )
    .description("remove the second factors of all users, without a mail")
    .requiredOption("--all", "confirms that all are removed")
    .option(...JSON_OPTION)
    .action(async ({ json = false }: Options) => {
      await withDatabase(variables, async ({ factors }) => {
        const removed = await factors.deleteAll();
        await write(`${json ? toJson({ removed }) : `Removed ${removed} second factors.`}\n`);
      });
    });

export const factorsCommand = (variables: Variables): Command =>
  new Command("factors")
    .description("replace the key of second factors, or remove all")
    .addCommand(rekeyCommand(variables))
    .addCommand(removeCommand(variables));
