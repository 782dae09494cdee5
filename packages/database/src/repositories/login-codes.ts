/** Logins with a code from a mail. Invariant: a login increments `loginCodeRevision`, so a code works once and ends all others. */
import { and, eq, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { User } from "../tables.ts";
import { meetsPasswordGuard, type PasswordGuard } from "./guard.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createUserChanges, type Password } from "./user-changes.ts";

interface CodeUse {
  readonly hash: PasswordGuard;
  /** Replaces the password of an active user whose e-mail was not verified. */
  readonly password: Password;
}

export interface LoginCodes {
  /**
   * Uses a code for a login. If the e-mail of an active user was not verified, all credentials end and the user is notified.
   * Returns the user after the change, or null if the code was used, or the user has changed since `user` was read.
   */
  useLoginCode(user: User, use: CodeUse): Promise<User | null>;
}

export function createLoginCodes({ run, orm, transact }: RepositoryClient, dialect: Dialect): LoginCodes {
  const { users, outbox } = dialect.tables;
  const { takeOver } = createUserChanges(dialect);
  return {
    useLoginCode: async (user, { hash, password }) => {
      const isUnchanged = and(
        eq(users.tokenVersion, user.tokenVersion),
        eq(users.loginCodeRevision, user.loginCodeRevision),
        meetsPasswordGuard(users, hash),
      );
      if (user.isActive && !user.emailVerified)
        return transact(async (transaction) => {
          const changed = await takeOver(transaction, user, password, isUnchanged);
          if (changed) await transaction.insert(outbox).values({ kind: "takeover", userId: user.id });
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
