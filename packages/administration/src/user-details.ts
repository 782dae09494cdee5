/** What an operator sees of users besides the read shape of the API. */
import { type AdminUser, FAMILIAR_NETWORK_DAYS, toAdminUser } from "@latchkey/contracts";
import { hasImportedHash, type User, type UserRepository } from "@latchkey/database";

const DAY_SECONDS = 24 * 60 * 60;

/** @param hasPassword whether any password can match */
export async function describeUsers(
  users: Pick<UserRepository, "countLoginMeans">,
  described: readonly User[],
  hasPassword: (user: User) => boolean,
): Promise<AdminUser[]> {
  const ids = described.map(({ id }) => id);
  const means = await users.countLoginMeans(ids, FAMILIAR_NETWORK_DAYS * DAY_SECONDS);
  return described.map((user) =>
    toAdminUser(user, {
      last_login_at: user.lastLoginAt,
      has_password: hasPassword(user),
      imported: hasImportedHash(user),
      ...{ passkeys: 0, identities: 0, networks: 0, ...means.get(user.id) },
    }),
  );
}
