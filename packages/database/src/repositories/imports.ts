/**
 * Imports users of other systems, and remembers e-mail addresses that users gave up, by deleting the account or by changing the
 * e-mail. Invariants: a token that was issued for a user of another database is not valid for an imported user. For 90 days,
 * imports skip a remembered e-mail address.
 */
import { createHmac, randomBytes, randomInt } from "node:crypto";
import { type Claims, toAsciiEmail } from "@latchkey/contracts";
import { and, gt, inArray, lte, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { hasImportedHash } from "../passwords.ts";
import type { Select } from "../row-decoder.ts";
import type { User } from "../tables.ts";
import type { Timestamp } from "../timestamp.ts";
import { placeholders, type RepositoryClient } from "./repository-client.ts";

/** A user to create with values from another system. */
export interface ImportedUser extends Pick<User, "email" | "username" | "hashedPassword" | "importedHash"> {
  readonly isActive?: boolean | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly createdAt?: Timestamp | undefined;
  readonly roles?: string[] | undefined;
  readonly claims?: Claims | undefined;
  readonly locale?: string | undefined;
}

const KEPT_SECONDS = 90 * 24 * 60 * 60;

const digestOf = (email: string, key: string): string =>
  createHmac("sha256", key).update(toAsciiEmail(email)).digest("hex");

/** Whether the user was imported. Earlier releases set `importedHash` only, not `importedAt`. */
export const isImported = (user: Pick<User, "importedAt" | "importedHash">): boolean =>
  user.importedAt !== null || hasImportedHash(user);

export interface Imports {
  /** Returns the highest user id that was ever used, including the ids of deleted users, or 0 if no id was used. */
  findLastId(): Promise<number>;
  /** Returns the users that have one of these e-mail addresses or usernames. The comparison is exact. */
  findTaken(names: Record<"emails" | "usernames", readonly string[]>): Promise<User[]>;
  /**
   * Returns each of these e-mail addresses that a user gave up in the last 90 days, by deleting the account or by changing the
   * e-mail. Only reads, so that a check works with a role that cannot write.
   */
  findDeleted(emails: readonly string[]): Promise<string[]>;
  /**
   * Creates the users with random token versions, and returns the created users. Skips each user whose e-mail address or
   * username is taken, and each user whose e-mail address `findDeleted` returns. `imported` must not be empty.
   */
  import(imported: readonly ImportedUser[]): Promise<Pick<User, "id" | "email">[]>;
  /** Sets `importedAt` of these users to the current time. */
  markImported(ids: readonly number[]): Promise<void>;
  /** Makes the ids of new users higher than `id`, and higher than every id that was used before. */
  raiseLastId(id: number): Promise<void>;
}

const removeOld = (transaction: Orm, { tables: { deletedImports }, later }: Dialect) =>
  transaction.delete(deletedImports).where(lte(deletedImports.deletedAt, later(-KEPT_SECONDS)));

/** Imports skip the e-mail for 90 days. */
export async function rememberDeletion(transaction: Orm, dialect: Dialect, email: string): Promise<void> {
  const { deletedImports } = dialect.tables;
  const { digestKey, emailDigest } = deletedImports;
  await removeOld(transaction, dialect);
  const [known] = await transaction.select({ digestKey }).from(deletedImports).limit(1);
  const key = known?.digestKey ?? randomBytes(32).toString("hex");
  const values = { emailDigest: digestOf(email, key), digestKey: key };
  const query = transaction.insert(deletedImports).values(values);
  await query.onConflictDoUpdate({ target: emailDigest, set: { deletedAt: dialect.now } });
}

export function createImports({ orm, prepare, run, transact }: RepositoryClient, dialect: Dialect): Imports {
  const { tables, now, later, isElementOf, lastId, raiseLastId } = dialect;
  const { users, deletedImports } = tables;
  const given = placeholders("email", "username");
  const isTaken = sql`${users.email} ${isElementOf(given.email)} or ${users.username} ${isElementOf(given.username)}`;
  const byNames = prepare(orm.select().from(users).where(isTaken));
  const latest = prepare(orm.select({ lastId }).from(sql`(select 1) as one`));
  const { digestKey, emailDigest, deletedAt } = deletedImports;
  const isKept = gt(deletedAt, later(-KEPT_SECONDS));

  /** @param select runs a query of `connection` */
  const findRemembered = async (
    connection: Orm,
    select: <Row>(query: Select<Row> & PromiseLike<Row[]>) => Promise<Row[]>,
    emails: readonly string[],
  ): Promise<string[]> => {
    const keys = await select(connection.selectDistinct({ digestKey }).from(deletedImports).where(isKept));
    const byDigest = new Map(
      keys.flatMap((row) => emails.map((email) => [digestOf(email, row.digestKey), email])),
    );
    if (byDigest.size === 0) return [];
    const isGiven = inArray(emailDigest, [...byDigest.keys()]);
    const found = connection.select({ emailDigest }).from(deletedImports).where(and(isKept, isGiven));
    return (await select(found)).flatMap((row) => byDigest.get(row.emailDigest) ?? []);
  };

  const findLastId = async () => Number((await latest({}))[0]?.lastId);

  return {
    findLastId,
    findTaken: ({ emails, usernames }) =>
      byNames({ email: JSON.stringify(emails), username: JSON.stringify(usernames) }),
    findDeleted: (emails) => findRemembered(orm, (query) => prepare(query)({}), emails),
    import: (imported) =>
      transact(async (transaction) => {
        const values = imported.map((user) => ({
          ...user,
          tokenVersion: randomInt(1, 2 ** 30),
          importedAt: now,
        }));
        const query = transaction.insert(users).values(values).onConflictDoNothing();
        const created = await query.returning({ id: users.id, email: users.email });
        // The insert waits for a concurrent deletion of the same user. Only queries after the insert are certain to see it.
        const emails = created.map(({ email }) => email);
        await removeOld(transaction, dialect);
        const deleted = await findRemembered(transaction, async (query) => query, emails);
        if (deleted.length > 0) await transaction.delete(users).where(inArray(users.email, deleted));
        return created.filter(({ email }) => !deleted.includes(email));
      }),
    markImported: async (ids) => {
      const ofIds = inArray(users.id, [...ids]);
      await run(orm.update(users).set({ importedAt: now }).where(ofIds));
    },
    raiseLastId: async (id) => {
      if ((await findLastId()) >= id) return;
      await transact(async (transaction) => {
        for (const statement of raiseLastId(id)) await transaction.execute(statement);
      });
    },
  };
}
