/** `users explain`: what happens if a user logs in now, and which command changes it. */
import {
  AdministrationError,
  describeUsers,
  type Explanation,
  explainLogin,
  explainUnknown,
} from "@latchkey/administration";
import { printable, toJson, write } from "@latchkey/cli";
import { sendsMail } from "@latchkey/config";
import { hasImportedHash } from "@latchkey/database";
import { hashFormat, hasPassword } from "@latchkey/hashing";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import { readVariables, type Variables } from "../environment.ts";
import { parseUserRef } from "../user-arguments.ts";
import type { Format } from "../user-output.ts";
import { openAdministration } from "../users.ts";
import { JSON_OPTION, USER, withExamples } from "./help.ts";

const VARIABLES = [
  ...(["AUTH_ALGORITHM", "AUTH_REQUIRE_VERIFIED_EMAIL", "MAIL_URL", "NODE_ENV", "OIDC_PROVIDERS"] as const),
  ...(["PASSKEY_ORIGINS", "RATE_LIMIT_ENABLED", "REDIS_URL"] as const),
];

function readLoginRules(variables: Variables) {
  const values = readVariables(VARIABLES, variables);
  const counted = values.REDIS_URL === null ? "memory" : "redis";
  return {
    requiresVerifiedEmail: values.AUTH_REQUIRE_VERIFIED_EMAIL,
    refusesInactive: values.AUTH_ALGORITHM === "ES256" || values.AUTH_ALGORITHM === "EdDSA",
    attempts: values.RATE_LIMIT_ENABLED ? counted : "none",
    sendsMail: sendsMail(values),
    hasPasskeys: values.PASSKEY_ORIGINS !== null,
    hasIdentities: values.OIDC_PROVIDERS !== null,
  } as const;
}

export const explainCommand = (variables: Variables): Command =>
  withExamples(
    new Command("explain"),
    ["bun run admin users explain ada@example.com"],
    "Run it with the variables of the service: the result depends on them.",
  )
    .description("explain what happens if a user logs in now, and which command changes it")
    .argument(...USER)
    .option(...JSON_OPTION)
    .action(async (text: string, { json = false }: Format) => {
      const ref = parseUserRef(text);
      const rules = readLoginRules(variables);
      await withDatabase(variables, async (database) => {
        const user = await openAdministration(database)
          .find(ref)
          .catch((error: unknown) => {
            if (error instanceof AdministrationError && "email" in ref) return null;
            throw error;
          });
        const [details] = user ? await describeUsers(database.users, [user], hasPassword) : [];
        const format = user && hasImportedHash(user) ? hashFormat(user.importedHash ?? "") : null;
        const sentences =
          user && details
            ? explainLogin(user, details, format, rules)
            : explainUnknown("email" in ref ? ref.email : "");
        await write(json ? `${toJson(sentences)}\n` : sentences.map(formatSentence).join(""));
      });
    });

const formatSentence = ({ message, command }: Explanation): string =>
  `${printable(message)}\n${command === undefined ? "" : `    ${printable(command)}\n`}`;
