/** Users in either database. Each method except `storeNetwork` runs one statement and is therefore atomic. */
import { and, asc, desc, eq, getTableColumns, gt, notInArray, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { RepositoryClient } from "./postgres/client.ts";
import type * as schema from "./postgres/schema.ts";
import { type ExpectedUser, MAX_NETWORKS, type UserRepository } from "./repositories.ts";
import { singleRow } from "./select.ts";

export function createUserRepository(
  { orm, prepare, attempt, attemptAll }: RepositoryClient,
  { users, userNetworks, now }: typeof schema,
): UserRepository {
  const given = {
    id: sql.placeholder("id"),
    email: sql.placeholder("email"),
    username: sql.placeholder("username"),
    networkDigest: sql.placeholder("networkDigest"),
    after: sql.placeholder("after"),
    limit: sql.placeholder("limit"),
  };
  const byId = prepare(orm.select().from(users).where(eq(users.id, given.id)));
  const byEmail = prepare(
    orm
      .select({ ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt })
      .from(users)
      .leftJoin(
        userNetworks,
        and(eq(userNetworks.userId, users.id), eq(userNetworks.networkDigest, given.networkDigest)),
      )
      .where(eq(users.email, given.email)),
  );
  const byUsername = prepare(orm.select().from(users).where(eq(users.username, given.username)));
  const page = prepare(
    orm.select().from(users).where(gt(users.id, given.after)).orderBy(asc(users.id)).limit(given.limit),
  );

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  const change = async (id: number, values: PgUpdateSetSource<typeof users>, expected?: ExpectedUser) => {
    const query = orm
      .update(users)
      .set({ ...values, updatedAt: now })
      .where(
        and(
          eq(users.id, id),
          expected && eq(users.hashedPassword, expected.hashedPassword),
          expected && eq(users.isActive, expected.isActive),
          expected && eq(users.tokenVersion, expected.tokenVersion),
        ),
      )
      .returning();
    return (await attempt(() => query.execute()))[0] ?? null;
  };

  /** Values that revoke all tokens of a user except one. */
  const revocation = (passwordChangeTokenId: string | null) => ({
    tokenVersion: sql`${users.tokenVersion} + 1`,
    passwordChangeTokenId,
  });

  return {
    findById,
    create: async ({ email, username, hashedPassword }) => {
      const query = orm.insert(users).values({ email, username, hashedPassword }).returning();
      return singleRow(await attempt(() => query.execute()));
    },
    findByEmail: async (email, networkDigest = "") => (await byEmail({ email, networkDigest }))[0] ?? null,
    storeNetwork: (userId, networkDigest) => {
      const store = orm
        .insert(userNetworks)
        .values({ userId, networkDigest })
        .onConflictDoUpdate({
          target: [userNetworks.userId, userNetworks.networkDigest],
          set: { lastSeenAt: now },
        });
      const ofUser = eq(userNetworks.userId, userId);
      const latest = orm
        .select({ networkDigest: userNetworks.networkDigest })
        .from(userNetworks)
        .where(ofUser)
        .orderBy(desc(userNetworks.lastSeenAt))
        .limit(MAX_NETWORKS);
      // A separate statement, which sees the rows of other replicas that were stored before it.
      const removeOthers = orm
        .delete(userNetworks)
        .where(and(ofUser, notInArray(userNetworks.networkDigest, latest)));
      return attemptAll(
        () => store.execute(),
        () => removeOthers.execute(),
      );
    },
    findByUsername: async (username) => (await byUsername({ username }))[0] ?? null,
    update: (id, { username, hashedPassword, passwordChangeTokenId = null }, expected) => {
      if (hashedPassword !== undefined)
        return change(id, { username, hashedPassword, ...revocation(passwordChangeTokenId) }, expected);
      return username === undefined ? findById(id) : change(id, { username }, expected);
    },
    revokeTokens: (id) => change(id, revocation(null)),
    setActive: (id, isActive) => change(id, { isActive }),
    delete: async (id) => {
      const query = orm.delete(users).where(eq(users.id, id)).returning({ id: users.id });
      return (await attempt(() => query.execute())).length > 0;
    },
    list: ({ after, limit }) => page({ after, limit }),
  };
}
