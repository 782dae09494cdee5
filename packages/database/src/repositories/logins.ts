/**
 * What logins store with users: the time, the network, the used code, and the hash that replaces that of another system. Invariant:
 * a login with a code increments `loginCodeRevision`, so a code works once and ends all others.
 */
import { and, desc, eq, isNull, lte, notInArray, or, sql } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import type { Password } from "../passwords.ts";
import type { User } from "../tables.ts";
import type { Timestamp } from "../timestamp.ts";
import { meetsPasswordGuard, type PasswordGuard } from "./guard.ts";
import { insertMail } from "./insert-mail.ts";
import type { RepositoryClient } from "./repository-client.ts";
import { createUserChanges } from "./user-changes.ts";

/** The maximum number of networks that are stored for one user. */
const MAX_NETWORKS = 20;
/** The age from which the stored time of the latest login is replaced. */
const LOGIN_STORED_SECONDS = 24 * 60 * 60;

/** Whether a login now must call `storeLogin`. */
export const isLoginStale = (lastLoginAt: Timestamp | null): boolean =>
  lastLoginAt === null || Date.now() - Date.parse(lastLoginAt) >= LOGIN_STORED_SECONDS * 1000;

export interface Logins {
  /** Stores the time of a login if the stored one is a day old. `updatedAt` stays: a login is not a change of the user. */
  storeLogin(id: number): Promise<void>;
  /**
   * Stores the network with the current time. Then deletes the user's oldest networks, if there are more than
   * `MAX_NETWORKS`.
   * @param tokenVersion nothing is stored if the user has another `tokenVersion`. @default any version
   */
  storeNetwork(id: number, digest: string, tokenVersion?: number): Promise<void>;
  /** When the user last logged in from each stored network, latest first. */
  listNetworkTimes(id: number): Promise<Timestamp[]>;
  /**
   * Uses a code. Returns the user with the incremented revision, or null if the code was used, or the user has changed since `user`
   * was read.
   */
  useLoginCode(user: User, hash: PasswordGuard): Promise<User | null>;
  /**
   * Ends all credentials of an active user with an unverified e-mail, which its owner has proved, and notifies the user. Returns the
   * changed user, or null if the user has changed since `user` was read, or a code was used.
   */
  takeOver(user: User, hash: PasswordGuard, password: Password): Promise<User | null>;
  /** Replaces an imported hash by a new one of the same password. Returns false if the user or the stored hashes have changed. */
  rehash(user: Pick<User, "id" | keyof Password>, hashedPassword: string): Promise<boolean>;
}

export function createLogins(client: RepositoryClient, dialect: Dialect): Logins {
  const { orm, run, attemptAll, transact } = client;
  const { tables, now, later, forShare } = dialect;
  const { users, userNetworks } = tables;
  const { userId, networkDigest, lastSeenAt } = userNetworks;
  const { takeOver } = createUserChanges(dialect);
  const isUnchanged = (user: User, hash: PasswordGuard) =>
    and(
      eq(users.tokenVersion, user.tokenVersion),
      eq(users.loginCodeRevision, user.loginCodeRevision),
      meetsPasswordGuard(users, hash),
    );
  return {
    storeLogin: async (id) => {
      const { lastLoginAt } = users;
      const isOld = or(isNull(lastLoginAt), lte(lastLoginAt, later(-LOGIN_STORED_SECONDS)));
      const query = orm.update(users).set({ lastLoginAt: now });
      await run(query.where(and(eq(users.id, id), isOld)));
    },
    storeNetwork: (id, digest, tokenVersion) => {
      const ofVersion = tokenVersion === undefined ? undefined : eq(users.tokenVersion, tokenVersion);
      // `forShare` makes the query wait for the commit of a concurrent password change.
      const row = sql`select ${users.id}, ${digest}, ${now} from ${users} where ${and(eq(users.id, id), ofVersion)} ${forShare}`;
      const inserted = orm.insert(userNetworks).select(row);
      const store = inserted.onConflictDoUpdate({
        target: [userId, networkDigest],
        set: { lastSeenAt: now },
      });
      const ofUser = eq(userId, id);
      const stored = orm.select({ networkDigest }).from(userNetworks).where(ofUser);
      // The digest orders those of one time, so that two replicas do not delete different ones of them.
      const latest = stored.orderBy(desc(lastSeenAt), desc(networkDigest));
      const others = and(ofUser, notInArray(networkDigest, latest.limit(MAX_NETWORKS)));
      // The deletion is a separate statement. In one statement, two replicas could not see each other's new rows.
      return attemptAll(store, orm.delete(userNetworks).where(others));
    },
    listNetworkTimes: async (id) => {
      const query = orm.select({ lastSeenAt }).from(userNetworks).where(eq(userId, id));
      return (await run(query.orderBy(desc(lastSeenAt)))).map((network) => network.lastSeenAt);
    },
    useLoginCode: async (user, hash) => {
      const isSame = and(
        eq(users.id, user.id),
        eq(users.email, user.email),
        eq(users.emailVerified, user.emailVerified),
        eq(users.isActive, user.isActive),
      );
      const values = { loginCodeRevision: sql`${users.loginCodeRevision} + 1` };
      const query = orm
        .update(users)
        .set(values)
        .where(and(isSame, isUnchanged(user, hash)));
      return (await run(query.returning()))[0] ?? null;
    },
    takeOver: (user, hash, password) =>
      transact(async (transaction) => {
        const changed = await takeOver(transaction, user, password, isUnchanged(user, hash));
        if (changed) await insertMail(transaction, dialect, { kind: "takeover", userId: user.id });
        return changed;
      }),
    rehash: async (user, hashedPassword) => {
      const unchanged = and(
        eq(users.id, user.id),
        eq(users.hashedPassword, user.hashedPassword),
        sql`${users.importedHash} = ${user.importedHash}`,
      );
      const query = orm.update(users).set({ hashedPassword, importedHash: null }).where(unchanged);
      return (await run(query.returning({ id: users.id }))).length > 0;
    },
  };
}
