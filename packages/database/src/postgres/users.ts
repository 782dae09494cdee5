/** Users in PostgreSQL. Each method runs one statement and is therefore atomic. */
import { and, asc, eq, getTableColumns, gt, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import { type ExpectedUser, MAX_NETWORKS, type User, type UserRepository } from "../repositories.ts";
import { type PostgresClient, singleRow } from "./client.ts";
import { now, userNetworks, users } from "./schema.ts";

export function createUserRepository({ orm, prepare, attempt }: PostgresClient): UserRepository {
  const byId = prepare(
    orm
      .select()
      .from(users)
      .where(eq(users.id, sql.placeholder("id"))),
  );
  const byEmail = prepare(
    orm
      .select({ ...getTableColumns(users), networkSeenAt: userNetworks.lastSeenAt })
      .from(users)
      .leftJoin(
        userNetworks,
        and(
          eq(userNetworks.userId, users.id),
          eq(userNetworks.networkDigest, sql.placeholder("networkDigest")),
        ),
      )
      .where(eq(users.email, sql.placeholder("email"))),
  );

  const findById = async (id: number): Promise<User | null> => (await attempt(() => byId({ id })))[0] ?? null;

  const change = async (
    id: number,
    values: PgUpdateSetSource<typeof users>,
    expected?: ExpectedUser,
  ): Promise<User | null> => {
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

  return {
    findById,
    create: async ({ email, username, hashedPassword }) => {
      const query = orm.insert(users).values({ email, username, hashedPassword }).returning();
      return singleRow(await attempt(() => query.execute()));
    },
    findByEmail: async (email, networkDigest = "") =>
      (await attempt(() => byEmail({ email, networkDigest })))[0] ?? null,
    storeNetwork: async (userId, networkDigest) => {
      // The DELETE does not see the row of the INSERT, but the others as they were before.
      const query = sql`
        with stored as (
          insert into ${userNetworks} (user_id, network_digest) values (${userId}, ${networkDigest})
          on conflict (user_id, network_digest) do update set last_seen_at = ${now}
        ), others as (
          select network_digest from ${userNetworks}
          where user_id = ${userId} and network_digest <> ${networkDigest}
          order by last_seen_at desc offset ${MAX_NETWORKS - 1}
        )
        delete from ${userNetworks}
        where user_id = ${userId} and network_digest in (select network_digest from others)`;
      await attempt(() => orm.execute(query));
    },
    findByUsername: async (username) => {
      const query = orm.select().from(users).where(eq(users.username, username));
      return (await attempt(() => query.execute()))[0] ?? null;
    },
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
    list: ({ after, limit }) =>
      attempt(() =>
        orm.select().from(users).where(gt(users.id, after)).orderBy(asc(users.id)).limit(limit).execute(),
      ),
  };
}

/** Values that revoke all tokens of a user except one. */
const revocation = (passwordChangeTokenId: string | null) => ({
  tokenVersion: sql`${users.tokenVersion} + 1`,
  passwordChangeTokenId,
});
