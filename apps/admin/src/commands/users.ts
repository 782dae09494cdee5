/** `users …`: the users of the service. */
import { parseWholeNumber, printable, write } from "@latchkey/cli";
import { ID_MAX } from "@latchkey/contracts";
import type { User, UserRepository } from "@latchkey/database";
import { Command } from "commander";
import { audited } from "../audit-log.ts";
import { withDatabase } from "../database.ts";
import { readHashing, type Variables } from "../environment.ts";
import { confirm, readPassword } from "../prompt.ts";
import { parseEmail, parseUsername, parseUserRef, type UserRef } from "../user-arguments.ts";
import { type Format, printUser, printUsers } from "../user-output.ts";
import {
  deleteUser,
  expectUnused,
  findUser,
  hashPassword,
  listUsers,
  replacePassword,
  revokeTokens,
  setActive,
} from "../users.ts";
import { JSON_OPTION, withExamples } from "./help.ts";

const USER = ["<user>", "e-mail address, or id as in the service's logs"] as const;

const ABOUT_PASSWORDS = `The password (8 to 128 characters) is read twice from the terminal, without
echo. If standard input is not a terminal, it must contain one line, the
password. A password is never an argument: other users of the machine could
read it.`;

export function usersCommand(variables: Variables): Command {
  return withExamples(
    new Command("users").description("create, show, change and delete users"),
    [
      "bun run admin users list",
      "bun run admin users deactivate ada@example.com",
      "bun run admin users create --help",
    ],
    "E-mail addresses are trimmed and lowercased, as in the service. Password hashes\nare never printed.",
  )
    .addCommand(createCommand(variables))
    .addCommand(showCommand(variables))
    .addCommand(listCommand(variables))
    .addCommand(activeCommand(variables, { name: "activate", isActive: true }))
    .addCommand(activeCommand(variables, { name: "deactivate", isActive: false }))
    .addCommand(setPasswordCommand(variables))
    .addCommand(revokeTokensCommand(variables))
    .addCommand(deleteCommand(variables));
}

function createCommand(variables: Variables): Command {
  return withExamples(
    new Command("create"),
    [
      "bun run admin users create ada@example.com --username ada",
      "bun run admin users create ada@example.com --username ada < password.txt",
    ],
    ABOUT_PASSWORDS,
  )
    .description("create an active user")
    .argument("<email>", "e-mail address for logins, at most 254 characters")
    .requiredOption("-u, --username <name>", "username, 1 to 32 characters")
    .option(...JSON_OPTION)
    .action(async (emailText: string, { username: nameText, ...format }: Format & { username: string }) => {
      const [email, username] = [parseEmail(emailText), parseUsername(nameText)];
      const { kernel } = readHashing(variables);
      await withDatabase(variables, async ({ users }) => {
        await expectUnused(users, { email, username });
        const hashedPassword = await hashPassword(await readPassword(), kernel);
        const user = audited("user.registered", await users.create({ email, username, hashedPassword }));
        await printUser(user, format);
      });
    });
}

/** Adds the arguments and the action of a command that prints the user returned by `work`. */
function withUser(
  command: Command,
  variables: Variables,
  work: (users: UserRepository, ref: UserRef) => Promise<User>,
): Command {
  return command
    .argument(...USER)
    .option(...JSON_OPTION)
    .action(async (text: string, format: Format) => {
      const ref = parseUserRef(text);
      await withDatabase(variables, async ({ users }) => printUser(await work(users, ref), format));
    });
}

function showCommand(variables: Variables): Command {
  const examples = ["bun run admin users show ada@example.com", "bun run admin users show 42 --json"];
  const command = withExamples(new Command("show").description("show one user"), examples);
  return withUser(command, variables, findUser);
}

function listCommand(variables: Variables): Command {
  return withExamples(new Command("list"), [
    "bun run admin users list",
    "bun run admin users list --limit 50 --after 1200",
    "bun run --silent admin users list --json | jq -r '.[].email'",
  ])
    .description("list users in ascending order of ids")
    .option("--limit <count>", "maximum number of users (default: all)")
    .option("--after <id>", "list users with larger ids", "0")
    .option(...JSON_OPTION)
    .action(async ({ limit, after, ...format }: Format & { limit?: string; after: string }) => {
      const whole = (name: string, text: string, min: number) =>
        parseWholeNumber({ name, text }, { min, max: ID_MAX });
      const options = {
        limit: limit === undefined ? Number.POSITIVE_INFINITY : whole("--limit", limit, 1),
        after: whole("--after", after, 0),
      };
      await withDatabase(variables, ({ users }) => printUsers(listUsers(users, options), format));
    });
}

function activeCommand(
  variables: Variables,
  { name, isActive }: { name: string; isActive: boolean },
): Command {
  const command = withExamples(
    new Command(name),
    [`bun run admin users ${name} ada@example.com`],
    "An inactive user can still log in with the correct password, but every request\nwith its tokens returns 403, also with tokens issued earlier.",
  ).description(isActive ? "restore a user's access" : "block a user, effective with the next request");
  return withUser(command, variables, (users, ref) => setActive(users, ref, isActive));
}

function setPasswordCommand(variables: Variables): Command {
  return withExamples(
    new Command("set-password"),
    [
      "bun run admin users set-password ada@example.com",
      "pass show ada | bun run admin users set-password ada@example.com",
    ],
    ABOUT_PASSWORDS,
    "All tokens of the user are revoked, effective with the next request.",
  )
    .description("replace a user's password")
    .argument(...USER)
    .option(...JSON_OPTION)
    .action(async (text: string, format: Format) => {
      const ref = parseUserRef(text);
      const { kernel } = readHashing(variables);
      await withDatabase(variables, async ({ users }) => {
        const user = await findUser(users, ref);
        const hashedPassword = await hashPassword(await readPassword(), kernel);
        await printUser(await replacePassword(users, user, hashedPassword), format);
      });
    });
}

function revokeTokensCommand(variables: Variables): Command {
  const command = withExamples(
    new Command("revoke-tokens"),
    ["bun run admin users revoke-tokens ada@example.com"],
    "Requests with the user's tokens return 401. The user can log in again; to block\nthe user, deactivate the account.",
  ).description("revoke all tokens of a user, effective with the next request");
  return withUser(command, variables, revokeTokens);
}

function deleteCommand(variables: Variables): Command {
  return withExamples(
    new Command("delete"),
    ["bun run admin users delete ada@example.com", "bun run admin users delete 42 --yes"],
    "Requests with the user's tokens return 404. The id is never reused; the e-mail\naddress and the username become available. This cannot be undone; to keep the\naccount, deactivate it.",
  )
    .description("delete a user permanently")
    .argument(...USER)
    .option("-y, --yes", "do not ask for confirmation; required without a terminal")
    .option(...JSON_OPTION)
    .action(async (text: string, { yes = false, json = false }: Format & { yes?: boolean }) => {
      const ref = parseUserRef(text);
      await withDatabase(variables, async ({ users }) => {
        const user = await findUser(users, ref);
        const name = printable(`${user.email} (id ${user.id}, username ${user.username})`);
        if (!yes) await confirm(`Delete ${name} permanently?`);
        await deleteUser(users, user);
        if (json) await printUser(user, { json });
        else await write(`Deleted ${name}.\n`);
      });
    });
}
