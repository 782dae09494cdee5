/** `users delete`: deletes one user, or all users of an e-mail domain. */
import { listUsers, type Operator, type UserRef } from "@latchkey/administration";
import { confirm, printable, toJson, usageError, write } from "@latchkey/cli";
import type { Database } from "@latchkey/database";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { parseDomain, parseReason, parseUserRef } from "../user-arguments.ts";
import { printUser } from "../user-output.ts";
import { actorOf, openAdministration } from "../users.ts";
import { JSON_OPTION, REASON_OPTION, USER, withExamples } from "./help.ts";

type Options = Readonly<{ yes?: boolean; json?: boolean; domain?: string; reason?: string }>;

export const deleteCommand = (variables: Variables): Command =>
  withExamples(
    new Command("delete"),
    [
      "bun run admin users delete ada@example.com",
      "bun run admin users delete 42 --yes",
      "bun run admin users delete --domain 1f0c9a2b.loadtest.invalid",
    ],
    "Requests with the user's tokens return 404. The id is never reused; the e-mail\naddress and the username become available. This cannot be undone; to keep the\naccount, deactivate it.",
  )
    .description("delete a user, or all users of an e-mail domain, permanently")
    .argument("[user]", USER[1])
    .option("--domain <domain>", "delete all users whose e-mail address has this domain")
    .option("-y, --yes", "do not ask for confirmation; required without a terminal")
    .option(...REASON_OPTION)
    .option(...JSON_OPTION)
    .action(async (text: string | undefined, { domain: domainText, reason, ...options }: Options) => {
      if ((text === undefined) === (domainText === undefined))
        throw usageError("Specify either a user or --domain; see --help.");
      const operator = { actor: actorOf(variables), reason: parseReason(reason) };
      const ref = text === undefined ? null : parseUserRef(text);
      const domain = domainText === undefined ? "" : parseDomain(domainText);
      await withDatabase(variables, (database) =>
        ref
          ? deleteUser(database, ref, operator, options)
          : deleteDomain(database, domain, operator, options),
      );
    });

async function deleteUser(database: Database, ref: UserRef, operator: Operator, { yes, json }: Options) {
  const administration = openAdministration(database);
  const user = await administration.find(ref);
  const name = printable(`${user.email} (id ${user.id}, username ${user.username})`);
  if (!yes) await confirm(`Delete ${name} permanently?`);
  await administration.delete(user.id, operator);
  if (json) await printUser(user, { json });
  else await write(`Deleted ${name}.\n`);
}

async function deleteDomain(
  database: Database,
  domain: string,
  operator: Operator,
  { yes, json }: Options,
): Promise<void> {
  const { deleteAll } = openAdministration(database);
  const pages = () => listUsers(database.users, { domain });
  let [found, deleted] = [0, 0];
  for await (const page of pages()) found += page.length;
  if (!yes && found > 0) await confirm(`Delete ${found} users of ${printable(domain)} permanently?`);
  for await (const page of pages()) {
    const ids = page.map(({ id }) => id);
    deleted += await deleteAll(ids, operator);
  }
  await write(json ? `${toJson({ deleted })}\n` : `Deleted ${deleted} users of ${printable(domain)}.\n`);
}
