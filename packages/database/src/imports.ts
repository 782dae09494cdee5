/**
 * Users of other systems: how they are created, and which of them deleted their account. Invariants: no token of another
 * database is valid for an imported user, and an import never restores an account that its owner deleted.
 */
import { createHmac, randomBytes, randomInt } from "node:crypto";
import { inArray, lte, sql } from "drizzle-orm";
import { type Orm, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";
import type { Timestamp } from "./timestamp.ts";

/** A user that is created with the values of another system. */
export interface ImportedUser extends Pick<User, "email" | "username" | "hashedPassword" | "importedHash"> {
  readonly isActive?: boolean | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly createdAt?: Timestamp | undefined;
  readonly roles?: string[] | undefined;
}

const KEPT_SECONDS = 90 * 24 * 60 * 60;

const digestOf = (email: string, key: string): string =>
  createHmac("sha256", key).update(email).digest("hex");

/** Whether the user was imported, also by a release that did not store when. */
export const isImported = ({
  importedAt,
  importedHash,
}: Pick<User, "importedAt" | "importedHash">): boolean => importedAt !== null || importedHash !== null;

export function createImports(
  { orm, prepare, run, transact }: RepositoryClient,
  { users, deletedImports, now, later, isElementOf, lastId, raiseLastId }: Tables,
) {
  const given = placeholders("email", "username");
  const isTaken = sql`${users.email} ${isElementOf(given.email)} or ${users.username} ${isElementOf(given.username)}`;
  const byNames = prepare(orm.select().from(users).where(isTaken));
  const latest = prepare(orm.select({ lastId }).from(sql`(select 1) as one`));
  const { digestKey, emailDigest, deletedAt } = deletedImports;

  const removeOld = (connection: Orm) =>
    connection.delete(deletedImports).where(lte(deletedAt, later(-KEPT_SECONDS)));

  const findDeleted = async (connection: Orm, emails: readonly string[]): Promise<string[]> => {
    await removeOld(connection);
    const keys = await connection.selectDistinct({ digestKey }).from(deletedImports);
    const byDigest = new Map(
      keys.flatMap(({ digestKey }) => emails.map((email) => [digestOf(email, digestKey), email])),
    );
    if (byDigest.size === 0) return [];
    const isDeleted = inArray(emailDigest, [...byDigest.keys()]);
    const found = await connection.select({ emailDigest }).from(deletedImports).where(isDeleted);
    return found.flatMap(({ emailDigest }) => byDigest.get(emailDigest) ?? []);
  };

  /** Returns the highest id ever used, also if that user was deleted; 0 without any. */
  const findLastId = async () => Number((await latest({}))[0]?.lastId);

  return {
    findLastId,
    /** Returns the users with one of the e-mail addresses or usernames. Compares exactly. */
    findTaken: ({ emails, usernames }: Record<"emails" | "usernames", readonly string[]>) =>
      byNames({ email: JSON.stringify(emails), username: JSON.stringify(usernames) }),
    /** Returns those of the e-mail addresses whose imported user deleted the account in the last 90 days. */
    findDeleted: (emails: readonly string[]) => transact((transaction) => findDeleted(transaction, emails)),
    /**
     * Creates the users, at least one, with random token versions, except those whose e-mail address or username is taken, or
     * whose account was deleted as in `findDeleted`; returns the created ones.
     */
    import: (imported: readonly ImportedUser[]) =>
      transact(async (transaction) => {
        const values = imported.map((user) => ({
          ...user,
          tokenVersion: randomInt(1, 2 ** 30),
          importedAt: now,
        }));
        const query = transaction.insert(users).values(values).onConflictDoNothing();
        const created = await query.returning({ id: users.id, email: users.email });
        // After the insert, which waits for a deletion of the same user.
        const emails = created.map(({ email }) => email);
        const deleted = await findDeleted(transaction, emails);
        if (deleted.length > 0) await transaction.delete(users).where(inArray(users.email, deleted));
        return created.filter(({ email }) => !deleted.includes(email));
      }),
    /** Stores that these users were imported; the time is the current one. */
    markImported: async (ids: readonly number[]) => {
      const ofIds = inArray(users.id, [...ids]);
      await run(orm.update(users).set({ importedAt: now }).where(ofIds));
    },
    /** New users get ids above this one, and above those used before. */
    raiseLastId: async (id: number) => {
      if ((await findLastId()) >= id) return;
      await transact(async (transaction) => {
        for (const statement of raiseLastId(id)) await transaction.execute(statement);
      });
    },
    rememberDeletion: async (transaction: Orm, email: string) => {
      await removeOld(transaction);
      const [known] = await transaction.select({ digestKey }).from(deletedImports).limit(1);
      const key = known?.digestKey ?? randomBytes(32).toString("hex");
      const values = { emailDigest: digestOf(email, key), digestKey: key };
      const query = transaction.insert(deletedImports).values(values);
      await query.onConflictDoUpdate({ target: emailDigest, set: { deletedAt: now } });
    },
  };
}
