/** Logins with a code from a mail. Invariant: a login increments `loginCodeRevision`, so a code works once and ends all others. */
import { and, eq, sql } from "drizzle-orm";
import { meetsPasswordGuard, type PasswordGuard } from "./guard.ts";
import { sentByDueAt } from "./outbox.ts";
import type { RepositoryClient, Tables } from "./repository-client.ts";
import type { User } from "./tables.ts";
import type { Password, UserChanges } from "./user-changes.ts";

interface CodeUse {
  readonly hash: PasswordGuard;
  /** Replaces the password of an active user whose e-mail was not verified. */
  readonly password: Password;
}

export function createLoginCodes(
  { run, orm, transact }: RepositoryClient,
  tables: Tables,
  { takeOver }: Pick<UserChanges, "takeOver">,
) {
  const { users, outbox } = tables;
  return {
    /**
     * Uses a code for a login. If the e-mail of an active user was not verified, all credentials end and the user is notified.
     * Returns the user after the change, or null if the code was used, or the user has changed since `user` was read.
     */
    useLoginCode: async (user: User, { hash, password }: CodeUse): Promise<User | null> => {
      const isUnchanged = and(
        eq(users.tokenVersion, user.tokenVersion),
        eq(users.loginCodeRevision, user.loginCodeRevision),
        meetsPasswordGuard(users, hash),
      );
      if (user.isActive && !user.emailVerified)
        return transact(async (transaction) => {
          const changed = await takeOver(transaction, user, password, isUnchanged);
          if (!changed) return null;
          await transaction
            .insert(outbox)
            .values({ kind: "takeover", userId: user.id, ...sentByDueAt(tables) });
          return changed;
        });
      const isSame = and(
        eq(users.id, user.id),
        eq(users.email, user.email),
        eq(users.emailVerified, user.emailVerified),
        eq(users.isActive, user.isActive),
      );
      const values = { loginCodeRevision: sql`${users.loginCodeRevision} + 1` };
      const query = orm.update(users).set(values).where(and(isSame, isUnchanged));
      return (await run(query.returning()))[0] ?? null;
    },
  };
}
