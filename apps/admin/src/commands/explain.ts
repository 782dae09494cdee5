/** `users explain`: what happens if a user logs in now, and which command changes it. */
import { explainLogin, explainUnknown, type LoginRules } from "@latchkey/administration";
import { printable, toJson, write } from "@latchkey/cli";
import { sendsMail } from "@latchkey/config";
import type { AdminExplanation } from "@latchkey/contracts";
import { hashFormat } from "@latchkey/hashing";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import { readVariables, type Variables } from "../environment.ts";
import { readLoginLimits } from "../login-limits.ts";
import { parseUserRef } from "../user-arguments.ts";
import type { Format } from "../user-output.ts";
import { openAdministration } from "../users.ts";
import { JSON_OPTION, USER, withExamples } from "./help.ts";

const VARIABLES = [
  ...([
    "AUTH_ALGORITHM",
    "AUTH_PRIVATE_KEY",
    "AUTH_REQUIRE_VERIFIED_EMAIL",
    "AUTH_SECOND_FACTOR",
    "AUTH_SECRET_KEY",
  ] as const),
  ...(["MAIL_URL", "NODE_ENV", "OIDC_PROVIDERS", "PASSKEY_ORIGINS"] as const),
  ...(["RATE_LIMIT_ENABLED", "REDIS_URL"] as const),
];

const toRules = (values: ReturnType<typeof readVariables<(typeof VARIABLES)[number]>>): LoginRules => ({
  requiresVerifiedEmail: values.AUTH_REQUIRE_VERIFIED_EMAIL,
  refusesInactive: values.AUTH_ALGORITHM === "ES256" || values.AUTH_ALGORITHM === "EdDSA",
  sendsMail: sendsMail(values),
  hasPasskeys: values.PASSKEY_ORIGINS !== null,
  hasIdentities: values.OIDC_PROVIDERS !== null,
  hasSecondFactor: values.AUTH_SECOND_FACTOR,
});

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
      const values = readVariables(VARIABLES, variables);
      await withDatabase(variables, async (database) => {
        const user =
          "email" in ref
            ? await database.users.findByEmail(ref.email)
            : await openAdministration(database).find(ref);
        const sentences = user
          ? await explainLogin(user, {
              users: database.users,
              factors: database.factors,
              formatOf: hashFormat,
              rules: toRules(values),
              limits: await readLoginLimits(user, values),
            })
          : explainUnknown("email" in ref ? ref.email : "");
        await write(json ? `${toJson(sentences)}\n` : sentences.map(formatSentence).join(""));
      });
    });

const formatSentence = ({ message, command }: AdminExplanation[number]): string =>
  `${printable(message)}\n${command === undefined ? "" : `    ${printable(command)}\n`}`;
