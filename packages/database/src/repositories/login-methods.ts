/**
 * What a user can log in with besides the password: passkeys and identities. Invariant: a removal locks the user first, so two
 * requests at once cannot remove the last way to log in.
 */
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { Dialect, Orm } from "../dialect.ts";
import { LastLogin } from "../errors.ts";
import type { Tables, User } from "../tables.ts";
import { type Guard, meetsGuard } from "./guard.ts";
import { insertMail } from "./insert-mail.ts";
import type { RepositoryClient } from "./repository-client.ts";

interface RemainingMethods {
  readonly user: User;
  /** The number of passkeys. */
  readonly passkeys: number;
  /** The issuers of the identities. */
  readonly issuers: readonly string[];
}

/** Whether a user with these methods can log in. */
export type LoginRule = (methods: RemainingMethods) => boolean;

export interface MethodChange {
  /** Whether a notification is written to the outbox together with the change. */
  readonly notifies: boolean;
}

export interface MethodRemovals<Id> {
  /**
   * Returns false if the condition is not met or the user has no passkey or identity with this id.
   * @throws LastLogin if `canLogIn` rejects what would remain
   */
  delete(
    id: Id,
    userId: number,
    condition: Guard,
    options: MethodChange & { readonly canLogIn: LoginRule },
  ): Promise<boolean>;
  /** Returns the user, or null if the user does not exist. Notifies only a user who had any. */
  deleteAll(userId: number, change: MethodChange): Promise<User | null>;
}

interface MethodOptions<Id> {
  readonly table: Tables["passkeys"] | Tables["identities"];
  readonly isId: (id: Id) => SQL;
  /** The mail that notifies the user. */
  readonly kind: "passkey" | "identity";
  /** Locks the user and returns the user, or null if the condition is not met. */
  readonly lock: (transaction: Orm, userId: number, condition?: SQL) => Promise<User | null>;
}

export function createMethodRemovals<Id>(
  { transact }: RepositoryClient,
  dialect: Dialect,
  { table, isId, kind, lock }: MethodOptions<Id>,
): MethodRemovals<Id> {
  const { users, passkeys, identities } = dialect.tables;
  /** Returns whether the user had any. */
  const remove = async (transaction: Orm, userId: number, selection: SQL | undefined, notifies: boolean) => {
    const removed = await transaction.delete(table).where(selection).returning({ userId: table.userId });
    if (removed.length > 0 && notifies) await insertMail(transaction, dialect, { kind, userId });
    return removed.length > 0;
  };

  const findRemaining = async (transaction: Orm, user: User): Promise<RemainingMethods> => {
    const ofUser = eq(passkeys.userId, user.id);
    const found = await transaction.select({ id: passkeys.id }).from(passkeys).where(ofUser);
    const { issuer, userId } = identities;
    const rows = await transaction.select({ issuer }).from(identities).where(eq(userId, user.id));
    return { user, passkeys: found.length, issuers: rows.map((row) => row.issuer) };
  };

  return {
    delete: (id, userId, condition, { notifies, canLogIn }) =>
      transact(async (transaction) => {
        const own = and(eq(table.userId, userId), isId(id));
        const isOwn = sql`exists (select 1 from ${table} where ${own})`;
        const user = await lock(transaction, userId, and(meetsGuard(users, condition), isOwn));
        if (!user || !(await remove(transaction, userId, own, notifies))) return false;
        // The error rolls the transaction back.
        if (!canLogIn(await findRemaining(transaction, user))) throw new LastLogin();
        return true;
      }),
    deleteAll: (userId, { notifies }) =>
      transact(async (transaction) => {
        const user = await lock(transaction, userId);
        await remove(transaction, userId, eq(table.userId, userId), notifies);
        return user;
      }),
  };
}
