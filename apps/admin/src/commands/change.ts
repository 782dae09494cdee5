/** The commands that change one user, such as `users deactivate`. Each logs the change and prints the changed user. */
import type { Administration, Operator } from "@latchkey/administration";
import { CliError, EXIT, write } from "@latchkey/cli";
import { CLAIMS_MAX_BYTES, EMAIL_MAX_LENGTH, isSameEmail } from "@latchkey/contracts";
import type { User } from "@latchkey/database";
import { Command } from "commander";
import { readClaims } from "../claims.ts";
import { withDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { parseEmail, parseNewEmail, parseReason, parseRoles, parseUserRef } from "../user-arguments.ts";
import { describeLogins, type Format, printUser } from "../user-output.ts";
import { actorOf, expectMail, openAdministration, openPasswordInput, readSendsMail } from "../users.ts";
import { ABOUT_PASSWORDS, JSON_OPTION, REASON_OPTION, USER, withExamples } from "./help.ts";

type Change = (administration: Administration, user: User, operator: Operator) => Promise<User>;
type Options = Format & { readonly reason?: string; readonly unverified?: boolean };

interface ChangeCommand {
  readonly name: string;
  readonly description: string;
  /** @default one, with only the user */
  readonly examples?: readonly string[];
  /** Printed below the help. */
  readonly about: string;
  /** The name and the description of what follows `<user>`. @default nothing */
  readonly argument?: readonly [name: string, description: string];
  readonly option?: readonly [name: string, description: string];
  /** Receives the arguments after `<user>`; runs before the database is opened. */
  readonly begin: (args: readonly string[], options: Options) => Change | Promise<Change>;
  /** Whether the change can cause mails. @default false */
  readonly mails?: boolean;
  /** Whether the output names the passkeys and identities of the user, because the change does not end them. @default false */
  readonly keepsLogins?: boolean;
}

const activation = (name: "activate" | "deactivate", description: string): ChangeCommand => ({
  name,
  description,
  about:
    "Every request with a token of an inactive user returns 403. With\nAUTH_PRIVATE_KEY, so does a login with the correct password. Earlier tokens\nand reset links stay invalid after the activation.",
  begin:
    () =>
    ({ change }, { id }, operator) =>
      change(id, { isActive: name === "activate" }, operator),
  keepsLogins: name === "deactivate",
});

const removal = (name: string, description: string, change: Change): ChangeCommand => ({
  name,
  description,
  about:
    "Tokens of earlier logins remain valid; to end them, revoke them, too. The\nservice notifies the user.",
  begin: () => change,
  mails: true,
});

const describeChanges = (variables: Variables): readonly ChangeCommand[] => [
  activation("activate", "restore a user's access"),
  activation("deactivate", "block a user, effective with the next request"),
  {
    name: "set-password",
    description: "replace a user's password",
    examples: [
      "bun run admin users set-password ada@example.com",
      "pass show ada | bun run admin users set-password ada@example.com",
    ],
    about: `${ABOUT_PASSWORDS}

All tokens of the user are revoked, effective with the next request, and all
passkeys and identities are deleted. All
networks of the user become unfamiliar: if the attempts for the e-mail are used
up, logins return 429 until one is refilled. The service notifies the user.`,
    begin: async () => {
      const readHash = await openPasswordInput(variables);
      return async ({ change }, { id }, operator) =>
        change(id, { hashedPassword: await readHash() }, operator);
    },
    mails: true,
  },
  {
    name: "set-email",
    description: "give a user who lost the mailbox another e-mail address",
    examples: ["bun run admin users set-email ada@example.com ada@example.org"],
    about:
      "The id stays the same. The password, all tokens, passkeys, identities and links\nof the user end, and all networks become unfamiliar. The service mails a reset\nlink to the new address, which is unverified until the reset, and notifies the\nold one. An inactive user gets no link.",
    argument: ["<new>", `new e-mail address, at most ${EMAIL_MAX_LENGTH} characters`],
    begin: ([text = ""]) => {
      const email = parseEmail(text);
      return ({ change }, user, operator) => {
        if (isSameEmail(user.email, email))
          throw new CliError("The user already has this e-mail address. Nothing was changed.", EXIT.failed);
        return change(user.id, { email: parseNewEmail(text) }, operator);
      };
    },
    mails: true,
  },
  {
    name: "send-reset",
    description: "send a user the link that resets the password",
    about:
      "The running service sends the mail within seconds. The budget of the recipient\ndoes not limit it.",
    begin: () => {
      expectMail(variables);
      return ({ sendReset }, { id }, operator) => sendReset(id, operator);
    },
  },
  {
    name: "revoke-tokens",
    description: "revoke all tokens of a user, effective with the next request",
    about:
      "Requests with the user's tokens return 401. The user can log in again, also with\na passkey or an identity: the output names those that remain. To block the user,\ndeactivate the account.",
    begin:
      () =>
      ({ revokeTokens }, { id }, operator) =>
        revokeTokens(id, operator),
    keepsLogins: true,
  },
  removal("remove-passkeys", "remove all passkeys of a user", ({ removePasskeys }, { id }, operator) =>
    removePasskeys(id, operator),
  ),
  removal(
    "remove-identities",
    "remove all logins of a user with other services",
    ({ removeIdentities }, { id }, operator) => removeIdentities(id, operator),
  ),
  {
    name: "remove-factor",
    description: "remove the second factor of a user who lost the device and the recovery codes",
    about:
      "The user then logs in without a code. All tokens of the user are revoked, and the\nservice notifies the user. Before, make sure that the user is the owner: whoever\nhas the password or the mailbox can log in afterwards.",
    begin:
      () =>
      ({ removeFactor }, { id }, operator) =>
        removeFactor(id, operator),
    mails: true,
  },
  {
    name: "set-roles",
    description: "replace the roles of a user, or remove all",
    examples: [
      "bun run admin users set-roles ada@example.com admin billing:read",
      "bun run admin users set-roles ada@example.com",
    ],
    about:
      "Tokens contain the roles if AUTH_CLAIMS lists them. If a role is removed, all\ntokens of the user are revoked. With mail, the e-mail must be verified:\notherwise, anybody could have registered it.",
    argument: ["[role...]", "at most 20, each of 1 to 64 of the characters a-z 0-9 : _ . -"],
    option: ["--unverified", "also if the e-mail is not verified"],
    begin: (args, { unverified }) => {
      const roles = parseRoles(args);
      const rules = unverified ? { allowsUnverified: true } : {};
      return ({ change }, { id }, operator) => change(id, { roles }, operator, rules);
    },
    mails: true,
  },
  {
    name: "set-claims",
    description: "replace the application's claims of a user",
    examples: [
      "bun run admin users set-claims 42 claims.json",
      `echo '{"plan":"pro"}' | bun run admin users set-claims 42 -`,
      "echo '{}' | bun run admin users set-claims 42 -",
    ],
    about: `The file is a JSON object of at most ${CLAIMS_MAX_BYTES} bytes. A value is a text, a finite
number, a boolean or an array of these. A name has 1 to 64 of the characters
a-z 0-9 _ . : / - and begins with a letter. Tokens contain the claims if
AUTH_CLAIMS lists claims. A change reaches the next token and ends none: what a
user must lose at once belongs in a role, whose removal revokes all tokens.`,
    argument: ["<file>", "JSON; - reads standard input"],
    begin: async ([path = ""]) => {
      const claims = await readClaims(path);
      return ({ change }, { id }, operator) => change(id, { claims }, operator);
    },
  },
];

function changeCommand(variables: Variables, described: ChangeCommand): Command {
  const { name, about, argument, option, begin, mails = false, keepsLogins = false } = described;
  const { examples = [`bun run admin users ${name} ada@example.com`] } = described;
  const command = new Command(name).description(described.description).argument(...USER);
  if (argument) command.argument(...argument);
  if (option) command.option(...option);
  command.option(...REASON_OPTION).option(...JSON_OPTION);
  return withExamples(command, examples, about).action(async (text: string) => {
    const ref = parseUserRef(text);
    const options = command.opts<Options>();
    const operator = { actor: actorOf(variables), reason: parseReason(options.reason) };
    const change = await begin(command.args.slice(1), options);
    const sendsMail = mails && readSendsMail(variables);
    await withDatabase(variables, async (database) => {
      const administration = openAdministration(database, sendsMail);
      const user = await change(administration, await administration.find(ref), operator);
      if (!keepsLogins) return printUser(user, options);
      const logins = await describeLogins(database, user, options);
      await printUser(user, options, logins);
      for (const [name, kept] of Object.entries(logins))
        if (kept.length > 0 && !options.json)
          await write(`The ${name} remain. To delete them: bun run admin users remove-${name} ${user.id}\n`);
    });
  });
}

export const changeCommands = (variables: Variables): Command[] =>
  describeChanges(variables).map((described) => changeCommand(variables, described));
