/** `users create` and `users invite`: new users, with a password or with a link to choose one. */
import { EMAIL_MAX_LENGTH, USERNAME_MAX_LENGTH } from "@latchkey/contracts";
import { UserAlreadyExists } from "@latchkey/database";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { parseNewEmail, parseReason, parseRoles, parseUsername } from "../user-arguments.ts";
import { type Format, printUser } from "../user-output.ts";
import { actorOf, expectMail, openAdministration, openPasswordInput } from "../users.ts";
import { ABOUT_PASSWORDS, JSON_OPTION, REASON_OPTION, withExamples } from "./help.ts";

const EMAIL = ["<email>", `e-mail address for logins, at most ${EMAIL_MAX_LENGTH} characters`] as const;

type CreateOptions = Format & { readonly username: string; readonly reason?: string };
type InviteOptions = Partial<CreateOptions> & { readonly role?: readonly string[] };

export const createCommand = (variables: Variables): Command =>
  withExamples(
    new Command("create"),
    [
      "bun run admin users create ada@example.com --username ada",
      "bun run admin users create ada@example.com --username ada < password.txt",
    ],
    ABOUT_PASSWORDS,
  )
    .description("create an active user")
    .argument(...EMAIL)
    .requiredOption("-u, --username <name>", `username, 1 to ${USERNAME_MAX_LENGTH} characters`)
    .option(...REASON_OPTION)
    .option(...JSON_OPTION)
    .action(async (emailText: string, options: CreateOptions) => {
      const operator = { actor: actorOf(variables), reason: parseReason(options.reason) };
      const [email, username] = [parseNewEmail(emailText), parseUsername(options.username)];
      const readHash = await openPasswordInput(variables);
      await withDatabase(variables, async (database) => {
        // Checks the names before the prompt for a password. The database constraint is still required, because another user can
        // register during the prompt.
        const taken = await database.users.findTaken({ emails: [email], usernames: [username] });
        if (taken.length > 0) throw new UserAlreadyExists();
        const hashedPassword = await readHash();
        const { create } = openAdministration(database);
        await printUser(await create({ email, username, hashedPassword }, operator), options);
      });
    });

export const inviteCommand = (variables: Variables): Command =>
  withExamples(
    new Command("invite"),
    [
      "bun run admin users invite ada@example.com",
      "bun run admin users invite ada@example.com --username ada --role billing:read",
    ],
    "The link is valid for seven days. The running service sends the mail within\nseconds. An existing user without a password gets another mail and, if given,\nthese roles in place of the earlier ones.",
  )
    .description("create a user without a password, and mail a link to choose one")
    .argument(...EMAIL)
    .option("-u, --username <name>", "username (default: generated from the e-mail)")
    .option("-r, --role <role...>", "role; can be repeated")
    .option(...REASON_OPTION)
    .option(...JSON_OPTION)
    .action(async (emailText: string, options: InviteOptions) => {
      const operator = { actor: actorOf(variables), reason: parseReason(options.reason) };
      const email = parseNewEmail(emailText);
      const username = options.username === undefined ? undefined : parseUsername(options.username);
      const roles = options.role && parseRoles(options.role);
      expectMail(variables);
      await withDatabase(variables, async (database) => {
        const { invite } = openAdministration(database, true);
        const { user } = await invite({ email, username, roles }, operator);
        await printUser(user, options);
      });
    });
