/** `users …`: shows, creates, changes and deletes the users of the service. */
import { type Administration, listUsers, type Operator } from "@latchkey/administration";
import { CliError, EXIT, parseWholeNumber, write } from "@latchkey/cli";
import { openPasswordBlocklist, sendsMail } from "@latchkey/config";
import {
  EMAIL_MAX_LENGTH,
  FAMILIAR_NETWORK_DAYS,
  ID_MAX,
  toIdentity,
  toPasskey,
  USERNAME_MAX_LENGTH,
} from "@latchkey/contracts";
import { type Database, type User, UserAlreadyExists } from "@latchkey/database";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import { readVariables, type Variables } from "../environment.ts";
import { readPassword } from "../prompt.ts";
import {
  parseNewEmail,
  parseReason,
  parseRoles,
  parseUsername,
  parseUserRef,
  passwordParser,
} from "../user-arguments.ts";
import { type Format, printUser, printUsers } from "../user-output.ts";
import { actorOf, hashPassword, openAdministration } from "../users.ts";
import { deleteCommand } from "./delete.ts";
import { explainCommand } from "./explain.ts";
import { JSON_OPTION, REASON_OPTION, USER, withExamples } from "./help.ts";
import { exportCommand, importCommand, statsCommand } from "./import.ts";

const ABOUT_PASSWORDS = `The password (8 to 128 characters, unless PASSWORD_MIN_LENGTH is set) is read
twice from the terminal, without echo. If standard input is not a terminal, it
must contain one line, the password. A password is never an argument: other
users of the machine could read it.`;

type ListOptions = Format & {
  limit?: string;
  after: string;
  imported?: boolean;
  withoutPassword?: boolean;
  inactive?: boolean;
  search?: string;
};

type ChangeFormat = Format & { readonly reason?: string };

type Change = (administration: Administration, user: User, operator: Operator) => Promise<User>;

interface ChangeEffects {
  /** Whether the change can cause mails. @default false */
  readonly mails?: boolean;
  /** Whether the output names the passkeys and identities of the user, because the change does not end them. @default false */
  readonly keepsLogins?: boolean;
}

const withDate = (name: string, createdAt: string): string => `${name} (${createdAt.slice(0, 10)})`;

/** Identities as objects for JSON, otherwise only their providers and dates. */
async function describeIdentities({ identities }: Database, { id }: User, { json = false }: Format) {
  const found = await identities.list(id);
  return found.map((identity) => {
    const { provider, createdAt, issuer, subject } = identity;
    return json ? { ...toIdentity(identity), issuer, subject } : withDate(provider, createdAt);
  });
}

/** Passkeys as objects for JSON, otherwise only their names and dates. */
async function describePasskeys({ passkeys }: Database, { id }: User, { json = false }: Format) {
  const found = await passkeys.list(id);
  return found.map((passkey) => (json ? toPasskey(passkey) : withDate(passkey.name, passkey.createdAt)));
}

export function usersCommand(variables: Variables): Command {
  const actor = actorOf(variables);
  const users = withExamples(
    new Command("users").description("create, show, change and delete users"),
    [
      "bun run admin users list",
      "bun run admin users deactivate ada@example.com",
      "bun run admin users create --help",
    ],
    "E-mail addresses are trimmed and lowercased, as in the service. Password hashes\nare never printed.",
  );

  /**
   * Returns a function that reads a new password, checks the password by the rules of the service, and returns the hash.
   * `HASH_WORKERS` is validated but not used, because one password needs only one worker.
   */
  const openPasswordInput = async () => {
    const blocklist = await openPasswordBlocklist(variables.PASSWORD_BLOCKLIST);
    const { HASH_KERNEL, PASSWORD_MIN_LENGTH } = readVariables(
      ["HASH_KERNEL", "HASH_WORKERS", "PASSWORD_MIN_LENGTH", "PASSWORD_BLOCKLIST"],
      variables,
      { PASSWORD_BLOCKLIST: blocklist.validate },
    );
    const parse = passwordParser(PASSWORD_MIN_LENGTH, blocklist.isListed);
    return async () => hashPassword(await readPassword(parse), HASH_KERNEL);
  };

  const readSendsMail = () => sendsMail(readVariables(["MAIL_URL", "NODE_ENV"], variables));

  /** @throws {CliError} with exit code 78 */
  const expectMail = () => {
    if (!readSendsMail())
      throw new CliError("MAIL_URL: is not set, so that the service sends no mail", EXIT.config);
  };

  /**
   * Adds the arguments and the action to a command that changes a user. The action logs and prints the changed user.
   * @param begin receives the arguments after `<user>`; runs before the database is opened
   */
  const changing = (
    command: Command,
    begin: (args: readonly string[]) => Change | Promise<Change>,
    { mails = false, keepsLogins = false }: ChangeEffects = {},
  ) =>
    command
      .argument(...USER)
      .option(...REASON_OPTION)
      .option(...JSON_OPTION)
      .action(async (text: string) => {
        const ref = parseUserRef(text);
        const format = command.opts<ChangeFormat>();
        const operator = { actor, reason: parseReason(format.reason) };
        const change = await begin(command.args.slice(1));
        const sendsMail = mails && readSendsMail();
        await withDatabase(variables, async (database) => {
          const administration = openAdministration(database, sendsMail);
          const user = await change(administration, await administration.find(ref), operator);
          if (!keepsLogins) return printUser(user, format);
          const passkeys = await describePasskeys(database, user, format);
          const identities = await describeIdentities(database, user, format);
          await printUser(user, format, { passkeys, identities });
          for (const [name, kept] of Object.entries({ passkeys, identities }))
            if (kept.length > 0 && !format.json)
              await write(
                `The ${name} remain. To delete them: bun run admin users remove-${name} ${user.id}\n`,
              );
        });
      });

  withExamples(
    users.command("create"),
    [
      "bun run admin users create ada@example.com --username ada",
      "bun run admin users create ada@example.com --username ada < password.txt",
    ],
    ABOUT_PASSWORDS,
  )
    .description("create an active user")
    .argument("<email>", `e-mail address for logins, at most ${EMAIL_MAX_LENGTH} characters`)
    .requiredOption("-u, --username <name>", `username, 1 to ${USERNAME_MAX_LENGTH} characters`)
    .option(...REASON_OPTION)
    .option(...JSON_OPTION)
    .action(async (emailText: string, options: ChangeFormat & { username: string }) => {
      const { username: nameText, reason: reasonText, ...format } = options;
      const reason = parseReason(reasonText);
      const [email, username] = [parseNewEmail(emailText), parseUsername(nameText)];
      const readHash = await openPasswordInput();
      await withDatabase(variables, async (database) => {
        // Checks the names before the prompt for a password. The database constraint is still required, because another user can
        // register during the prompt.
        const taken = await database.users.findTaken({ emails: [email], usernames: [username] });
        if (taken.length > 0) throw new UserAlreadyExists();
        const hashedPassword = await readHash();
        const { create } = openAdministration(database);
        await printUser(await create({ email, username, hashedPassword }, { actor, reason }), format);
      });
    });

  withExamples(
    users.command("invite"),
    [
      "bun run admin users invite ada@example.com",
      "bun run admin users invite ada@example.com --username ada --role billing:read",
    ],
    "The link is valid for seven days. The running service sends the mail within\nseconds. An existing user without a password only gets another mail.",
  )
    .description("create a user without a password, and mail a link to choose one")
    .argument("<email>", `e-mail address for logins, at most ${EMAIL_MAX_LENGTH} characters`)
    .option("-u, --username <name>", "username (default: generated from the e-mail)")
    .option("-r, --role <role...>", "role of a new user; can be repeated")
    .option(...REASON_OPTION)
    .option(...JSON_OPTION)
    .action(
      async (emailText: string, options: ChangeFormat & { username?: string; role?: readonly string[] }) => {
        const reason = parseReason(options.reason);
        const email = parseNewEmail(emailText);
        const username = options.username === undefined ? undefined : parseUsername(options.username);
        const roles = parseRoles(options.role ?? []);
        expectMail();
        await withDatabase(variables, async (database) => {
          const { invite } = openAdministration(database, true);
          const { user } = await invite({ email, username, roles }, { actor, reason });
          await printUser(user, options);
        });
      },
    );

  withExamples(users.command("show"), [
    "bun run admin users show ada@example.com",
    "bun run admin users show 42 --json",
  ])
    .description(
      "show one user, with the latest login, the passkeys, the identities of other services, the number of networks from which logins are never throttled, and the email_digest of the service's log",
    )
    .argument(...USER)
    .option(...JSON_OPTION)
    .action(async (text: string, format: Format) => {
      const ref = parseUserRef(text);
      await withDatabase(variables, async (database) => {
        const { users, digests } = database;
        const user = await openAdministration(database).find(ref);
        const means = await users.countLoginMeans([user.id], FAMILIAR_NETWORK_DAYS * 24 * 60 * 60);
        const familiar_networks = means.get(user.id)?.networks;
        const passkeys = await describePasskeys(database, user, format);
        const identities = await describeIdentities(database, user, format);
        const email_digest = (await digests.openEmailDigest())(user.email);
        const last_login_at = user.lastLoginAt;
        const details = { last_login_at, passkeys, identities, email_digest, familiar_networks };
        await printUser(user, format, details);
      });
    });

  users.addCommand(explainCommand(variables));

  withExamples(users.command("list"), [
    "bun run admin users list",
    "bun run admin users list --limit 50 --after 1200",
    "bun run admin users list --inactive --search @example.com",
    "bun run admin users list --without-password",
    "bun run --silent admin users list --json | jq -r '.[].email'",
  ])
    .description("list users in ascending order of ids")
    .option("--limit <count>", "maximum number of users (default: all)")
    .option("--after <id>", "list users with larger ids", "0")
    .option("--search <text>", "only users whose e-mail or username contains this text")
    .option("--inactive", "only inactive users")
    .option("--without-password", "only users without a password")
    .option("--imported", "only users whose imported hash has not been replaced yet")
    .option(...JSON_OPTION)
    .action(async ({ limit, after, search, imported, inactive, withoutPassword, ...format }: ListOptions) => {
      const whole = (name: string, text: string, min: number) =>
        parseWholeNumber({ name, text }, { min, max: ID_MAX });
      const page = {
        limit: limit === undefined ? Number.POSITIVE_INFINITY : whole("--limit", limit, 1),
        after: whole("--after", after, 0),
        contains: search,
        isImported: imported,
        isWithoutPassword: withoutPassword,
        isActive: inactive ? false : undefined,
      };
      await withDatabase(variables, ({ users }) => printUsers(listUsers(users, page), format));
    });

  const active = (name: "activate" | "deactivate", description: string) =>
    changing(
      withExamples(
        users.command(name).description(description),
        [`bun run admin users ${name} ada@example.com`],
        "Every request with a token of an inactive user returns 403. With\nAUTH_PRIVATE_KEY, so does a login with the correct password. Earlier tokens\nand reset links stay invalid after the activation.",
      ),
      () =>
        ({ change }, { id }, operator) =>
          change(id, { isActive: name === "activate" }, operator),
      { keepsLogins: name === "deactivate" },
    );

  active("activate", "restore a user's access");
  active("deactivate", "block a user, effective with the next request");

  changing(
    withExamples(
      users.command("set-password").description("replace a user's password"),
      [
        "bun run admin users set-password ada@example.com",
        "pass show ada | bun run admin users set-password ada@example.com",
      ],
      ABOUT_PASSWORDS,
      "All tokens of the user are revoked, effective with the next request. All\nnetworks of the user become unfamiliar: if the attempts for the e-mail are used\nup, logins return 429 until one is refilled. The service notifies the user.",
    ),
    async () => {
      const readHash = await openPasswordInput();
      return async ({ change }, { id }, operator) =>
        change(id, { hashedPassword: await readHash() }, operator);
    },
    { mails: true },
  );

  changing(
    withExamples(
      users.command("set-email").description("give a user who lost the mailbox another e-mail address"),
      ["bun run admin users set-email ada@example.com ada@example.org"],
      "The id stays the same. The password, all tokens, passkeys, identities and links\nof the user end, and all networks become unfamiliar. The service mails a reset\nlink to the new address, which is unverified until the reset, and notifies the\nold one. An inactive user gets no link.",
    ),
    ([text = ""]) => {
      const email = parseNewEmail(text);
      return ({ change }, user, operator) => {
        if (user.email === email)
          throw new CliError("The user already has this e-mail address.", EXIT.failed);
        return change(user.id, { email }, operator);
      };
    },
    { mails: true },
  ).argument("<new>", `new e-mail address, at most ${EMAIL_MAX_LENGTH} characters`);

  changing(
    withExamples(
      users.command("send-reset").description("send a user the link that resets the password"),
      ["bun run admin users send-reset ada@example.com"],
      "The running service sends the mail within seconds. The budget of the recipient\ndoes not limit it.",
    ),
    () => {
      expectMail();
      return ({ sendReset }, { id }, operator) => sendReset(id, operator);
    },
  );

  changing(
    withExamples(
      users
        .command("revoke-tokens")
        .description("revoke all tokens of a user, effective with the next request"),
      ["bun run admin users revoke-tokens ada@example.com"],
      "Requests with the user's tokens return 401. The user can log in again, also with\na passkey or an identity: the output names those that remain. To block the user,\ndeactivate the account.",
    ),
    () =>
      ({ revokeTokens }, { id }, operator) =>
        revokeTokens(id, operator),
    { keepsLogins: true },
  );

  const removal = (name: string, description: string, change: Change) =>
    changing(
      withExamples(
        users.command(name).description(description),
        [`bun run admin users ${name} ada@example.com`],
        "Tokens of earlier logins remain valid; to end them, revoke them, too. The\nservice notifies the user.",
      ),
      () => change,
      { mails: true },
    );

  removal("remove-passkeys", "remove all passkeys of a user", ({ removePasskeys }, { id }, operator) =>
    removePasskeys(id, operator),
  );

  removal(
    "remove-identities",
    "remove all logins of a user with other services",
    ({ removeIdentities }, { id }, operator) => removeIdentities(id, operator),
  );

  const setRoles: Command = changing(
    withExamples(
      users.command("set-roles").description("replace the roles of a user, or remove all"),
      [
        "bun run admin users set-roles ada@example.com admin billing:read",
        "bun run admin users set-roles ada@example.com",
      ],
      "Tokens contain the roles if AUTH_CLAIMS lists them. If a role is removed, all\ntokens of the user are revoked. With mail, the e-mail must be verified:\notherwise, anybody could have registered it.",
    ).option("--unverified", "also if the e-mail is not verified"),
    (args) => {
      const roles = parseRoles(args);
      const { unverified } = setRoles.opts<{ unverified?: boolean }>();
      const rules = unverified ? { allowsUnverified: true } : {};
      return ({ change }, { id }, operator) => change(id, { roles }, operator, rules);
    },
    { mails: true },
  ).argument("[role...]", "at most 20, each of 1 to 64 of the characters a-z 0-9 : _ . -");

  users.addCommand(deleteCommand(variables));
  users.addCommand(importCommand(variables));
  users.addCommand(exportCommand(variables));
  return users.addCommand(statsCommand(variables));
}
