/** `users …`: the accounts of the service. */
import { ID_MAX } from "@latchkey/contracts";
import { Command } from "commander";
import { type Format, printAccount, printAccounts } from "../account-output.ts";
import {
  deleteAccount,
  expectFree,
  findAccount,
  hashPassword,
  listAccounts,
  replacePassword,
  setActive,
} from "../accounts.ts";
import { withDatabase } from "../database.ts";
import { readHashing, type Variables } from "../environment.ts";
import { printable, write } from "../output.ts";
import { parseEmail, parseUsername, parseWho, parseWhole } from "../people.ts";
import { confirm, readPassword } from "../prompt.ts";
import { JSON_OPTION, teach } from "./help.ts";

const WHO = ["<who>", "e-mail address, or the id that the service's logs name"] as const;

const ABOUT_PASSWORDS = `The password (8 to 128 characters) is asked for twice, without echo. Where
standard input is no terminal, it is the one line that standard input holds.
It is never an argument, which other users of the machine could read.`;

export function usersCommand(variables: Variables): Command {
  return teach(
    new Command("users").description("create, look at, change and delete accounts"),
    [
      "bun run admin users list",
      "bun run admin users deactivate ada@example.com",
      "bun run admin users create --help",
    ],
    "E-mail addresses are trimmed and lowercased, as the service does. A password's\nhash is never shown.",
  )
    .addCommand(createCommand(variables))
    .addCommand(showCommand(variables))
    .addCommand(listCommand(variables))
    .addCommand(activeCommand(variables, { name: "activate", isActive: true }))
    .addCommand(activeCommand(variables, { name: "deactivate", isActive: false }))
    .addCommand(setPasswordCommand(variables))
    .addCommand(deleteCommand(variables));
}

function createCommand(variables: Variables): Command {
  const command = new Command("create")
    .description("create an account; it is active at once")
    .argument("<email>", "e-mail address, at most 254 characters, by which the person logs in")
    .requiredOption("-u, --username <name>", "username, 1 to 32 characters")
    .option(...JSON_OPTION)
    .action(async (emailText: string, { username: nameText, ...format }: Format & { username: string }) => {
      const [email, username] = [parseEmail(emailText), parseUsername(nameText)];
      const { kernel } = readHashing(variables);
      await withDatabase(variables, async ({ users }) => {
        await expectFree(users, email);
        const hashedPassword = await hashPassword(await readPassword(), kernel);
        await printAccount(await users.create({ email, username, hashedPassword }), format);
      });
    });
  return teach(
    command,
    [
      "bun run admin users create ada@example.com --username ada",
      "bun run admin users create ada@example.com --username ada < password.txt",
    ],
    ABOUT_PASSWORDS,
  );
}

function showCommand(variables: Variables): Command {
  const command = new Command("show")
    .description("show one account")
    .argument(...WHO)
    .option(...JSON_OPTION)
    .action(async (whoText: string, format: Format) => {
      const who = parseWho(whoText);
      await withDatabase(variables, async ({ users }) => printAccount(await findAccount(users, who), format));
    });
  return teach(command, ["bun run admin users show ada@example.com", "bun run admin users show 42 --json"]);
}

function listCommand(variables: Variables): Command {
  const command = new Command("list")
    .description("list the accounts in the order of their ids")
    .option("--limit <count>", "list this many at most (default: all)")
    .option("--after <id>", "list the accounts whose id is larger (default: from the first)")
    .option(...JSON_OPTION)
    .action(async ({ limit, after, ...format }: Format & { limit?: string; after?: string }) => {
      const span = {
        limit: limit === undefined ? Number.POSITIVE_INFINITY : parseWhole("--limit", limit, [1, ID_MAX]),
        after: after === undefined ? 0 : parseWhole("--after", after, [0, ID_MAX]),
      };
      await withDatabase(variables, ({ users }) => printAccounts(listAccounts(users, span), format));
    });
  return teach(command, [
    "bun run admin users list",
    "bun run admin users list --limit 50 --after 1200",
    "bun run --silent admin users list --json | jq -r '.[].email'",
  ]);
}

function activeCommand(
  variables: Variables,
  { name, isActive }: { name: string; isActive: boolean },
): Command {
  const description = isActive ? "let an account in again" : "lock an account out, from its next request on";
  const command = new Command(name)
    .description(description)
    .argument(...WHO)
    .option(...JSON_OPTION)
    .action(async (whoText: string, format: Format) => {
      const who = parseWho(whoText);
      await withDatabase(variables, async ({ users }) =>
        printAccount(await setActive(users, who, isActive), format),
      );
    });
  return teach(
    command,
    [`bun run admin users ${name} ada@example.com`],
    "An inactive account still logs in with the right password, but whatever it then\nasks for is answered 403. Tokens that it already holds meet the same answer.",
  );
}

function setPasswordCommand(variables: Variables): Command {
  const command = new Command("set-password")
    .description("replace an account's password")
    .argument(...WHO)
    .option(...JSON_OPTION)
    .action(async (whoText: string, format: Format) => {
      const who = parseWho(whoText);
      const { kernel } = readHashing(variables);
      await withDatabase(variables, async ({ users }) => {
        const user = await findAccount(users, who);
        const hashedPassword = await hashPassword(await readPassword(), kernel);
        await printAccount(await replacePassword(users, user, hashedPassword), format);
      });
    });
  return teach(
    command,
    [
      "bun run admin users set-password ada@example.com",
      "pass show ada | bun run admin users set-password ada@example.com",
    ],
    ABOUT_PASSWORDS,
    "Tokens stay valid until they expire, also after a new password: to lock somebody\nout at once, deactivate the account.",
  );
}

function deleteCommand(variables: Variables): Command {
  const command = new Command("delete")
    .description("delete an account for good")
    .argument(...WHO)
    .option("-y, --yes", "do not ask first; needed where standard input is no terminal")
    .option(...JSON_OPTION)
    .action(async (whoText: string, { yes = false, json = false }: Format & { yes?: boolean }) => {
      const who = parseWho(whoText);
      await withDatabase(variables, async ({ users }) => {
        const user = await findAccount(users, who);
        const name = printable(`${user.email} (id ${user.id}, username ${user.username})`);
        if (!yes) await confirm(`Delete ${name} for good?`);
        await deleteAccount(users, user);
        if (json) await printAccount(user, { json });
        else await write(`Deleted ${name}.\n`);
      });
    });
  return teach(
    command,
    ["bun run admin users delete ada@example.com", "bun run admin users delete 42 --yes"],
    "Its tokens meet 404 from then on, its id is never used again, and its e-mail\naddress and username are free. There is no way back; to keep the account,\ndeactivate it.",
  );
}
