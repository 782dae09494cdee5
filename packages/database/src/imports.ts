/**
 * Users of other systems: how they are created, and which of them deleted their account. Invariants: no token of another
 * database is valid for an imported user, and an import never restores an account that its owner deleted.
 */
import { createHmac, randomBytes, randomInt } from "node:crypto";
import { inArray, lte, sql } from "drizzle-orm";
import type { User, UserRepository } from "./repositories.ts";
import { type Orm, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";

const KEPT_SECONDS = 90 * 24 * 60 * 60;

const digestOf = (email: string, key: string): string =>
  createHmac("sha256", key).update(email).digest("hex");

/** Whether the user was imported, also by a release that did not store when. */
export const isImported = ({
  importedAt,
  importedHash,
}: Pick<User, "importedAt" | "importedHash">): boolean => importedAt !== null || importedHash !== null;

type Method = "findTaken" | "findDeleted" | "import" | "markImported" | "findLastId" | "raiseLastId";

export function createImports(
  { orm, prepare, attempt, transact }: RepositoryClient,
  { users, deletedImports, now, later, isElementOf, lastId, raiseLastId }: Tables,
): Pick<UserRepository, Method> & { rememberDeletion(transaction: Orm, email: string): Promise<void> } {
  const given = placeholders("email", "username");
  const isTaken = sql`${users.email} ${isElementOf(given.email)} or ${users.username} ${isElementOf(given.username)}`;
  const byNames = prepare(orm.select().from(users).where(isTaken));
  const latest = prepare(orm.select({ lastId }).from(sql`(select 1) as one`));
  const { digestKey, emailDigest, deletedAt } = deletedImports;

  const removeOld = (connection: Orm) =>
    connection
      .delete(deletedImports)
      .where(lte(deletedAt, later(-KEPT_SECONDS)))
      .execute();

  const findDeleted = async (connection: Orm, emails: readonly string[]): Promise<string[]> => {
    await removeOld(connection);
    const keys = await connection.selectDistinct({ digestKey }).from(deletedImports).execute();
    const byDigest = new Map(
      keys.flatMap(({ digestKey }) => emails.map((email) => [digestOf(email, digestKey), email])),
    );
    if (byDigest.size === 0) return [];
    const isDeleted = inArray(emailDigest, [...byDigest.keys()]);
    const found = await connection.select({ emailDigest }).from(deletedImports).where(isDeleted).execute();
    return found.flatMap(({ emailDigest }) => byDigest.get(emailDigest) ?? []);
  };

  const findLastId = async () => Number((await latest({}))[0]?.lastId);

  return {
    findTaken: ({ emails, usernames }) =>
      byNames({ email: JSON.stringify(emails), username: JSON.stringify(usernames) }),
    findDeleted: (emails) => attempt(() => findDeleted(orm, emails)),
    import: (imported) =>
      transact(async (transaction) => {
        const values = imported.map((user) => ({
          ...user,
          tokenVersion: randomInt(1, 2 ** 30),
          importedAt: now,
        }));
        const query = transaction.insert(users).values(values).onConflictDoNothing();
        const created = await query.returning({ id: users.id, email: users.email }).execute();
        // After the insert, which waits for a deletion of the same user.
        const emails = created.map(({ email }) => email);
        const deleted = await findDeleted(transaction, emails);
        if (deleted.length > 0)
          await transaction.delete(users).where(inArray(users.email, deleted)).execute();
        return created.filter(({ email }) => !deleted.includes(email));
      }),
    markImported: async (ids) => {
      const query = orm
        .update(users)
        .set({ importedAt: now })
        .where(inArray(users.id, [...ids]));
      await attempt(() => query.execute());
    },
    findLastId,
    raiseLastId: async (id) => {
      if ((await findLastId()) >= id) return;
      await transact(async (transaction) => {
        for (const statement of raiseLastId(id)) await transaction.execute(statement);
      });
    },
    rememberDeletion: async (transaction, email) => {
      await removeOld(transaction);
      const [known] = await transaction.select({ digestKey }).from(deletedImports).limit(1).execute();
      const key = known?.digestKey ?? randomBytes(32).toString("hex");
      const row = { emailDigest: digestOf(email, key), digestKey: key };
      const query = transaction.insert(deletedImports).values(row);
      await query.onConflictDoUpdate({ target: emailDigest, set: { deletedAt: now } }).execute();
    },
  };
}
