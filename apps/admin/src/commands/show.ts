/** `users show` and `users list`: what is known about one user, and a table of users. */
import { listUsers } from "@latchkey/administration";
import { parseWholeNumber } from "@latchkey/cli";
import { FAMILIAR_NETWORK_DAYS, ID_MAX } from "@latchkey/contracts";
import type { Database, User } from "@latchkey/database";
import { Command } from "commander";
import { withDatabase } from "../database.ts";
import type { Variables } from "../environment.ts";
import { parseUserRef } from "../user-arguments.ts";
import { describeLogins, type Format, printUser, printUsers } from "../user-output.ts";
import { openAdministration } from "../users.ts";
import { JSON_OPTION, USER, withExamples } from "./help.ts";

type Flag = "imported" | "withoutPassword" | "inactive" | "json";
type ListOptions = Readonly<
  { after: string; limit?: string; search?: string } & Partial<Record<Flag, boolean>>
>;

/** Stored times that a table has no room for. */
async function readTimes({ users, factors }: Database, { id, factorId }: User) {
  const network_times = await users.listNetworkTimes(id);
  const factor = factorId === null ? null : await factors.find(id);
  if (factor === null) return { network_times };
  const { createdAt: created_at, lastUsedAt: last_used_at, failedAt: failed_at } = factor;
  return { second_factor_times: { created_at, last_used_at, failed_at }, network_times };
}

export const showCommand = (variables: Variables): Command =>
  withExamples(new Command("show"), [
    "bun run admin users show ada@example.com",
    "bun run admin users show 42 --json",
  ])
    .description(
      "show one user, with the times of the latest login and of the import, the passkeys, the identities of other services, the number of networks whose logins are not limited per e-mail, and the email_digest of the service's log",
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
        const { passkeys, identities } = await describeLogins(database, user, format);
        const email_digest = (await digests.openEmailDigest())(user.email);
        const { lastLoginAt: last_login_at, importedAt: imported_at } = user;
        const factor = user.factorId === null ? {} : { second_factor: true };
        const details = {
          last_login_at,
          imported_at,
          ...factor,
          passkeys,
          identities,
          email_digest,
          familiar_networks,
          ...(format.json && (await readTimes(database, user))),
        };
        await printUser(user, format, details);
      });
    });

export const listCommand = (variables: Variables): Command =>
  withExamples(new Command("list"), [
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
