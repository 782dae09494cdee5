/** Users in libsql. Each method runs one statement or one transaction and is therefore atomic. */
import { and, asc, desc, eq, getTableColumns, gt, notInArray, sql } from "drizzle-orm";
import { QueryBuilder, type SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import { type ExpectedUser, MAX_NETWORKS, type UserRepository } from "../repositories.ts";
import type { LibsqlClient } from "./client.ts";
import { now, userNetworks, users } from "./schema.ts";

export function createUserRepository({ reader, writer }: LibsqlClient): UserRepository {
  const builder = new QueryBuilder();
  const byId = reader.prepare(
    builder
      .select()
      .from(users)
      .where(eq(users.id, sql.placeholder("id"))),
  );
  const byEmail = reader.prepare(
    builder
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
  const byUsername = reader.prepare(
    builder
      .select()
      .from(users)
      .where(eq(users.username, sql.placeholder("username"))),
  );
  const page = reader.prepare(
    builder
      .select()
      .from(users)
      .where(gt(users.id, sql.placeholder("after")))
      .orderBy(asc(users.id))
      .limit(sql.placeholder("limit")),
  );

  const findById = async (id: number) => (await reader.attempt(() => byId({ id })))[0] ?? null;

  const change = async (id: number, values: SQLiteUpdateSetSource<typeof users>, expected?: ExpectedUser) => {
    const query = writer.orm
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
    return (await writer.attempt(() => query.get())) ?? null;
  };

  return {
    findById,
    create: ({ email, username, hashedPassword }) =>
      writer.attempt(() =>
        writer.orm.insert(users).values({ email, username, hashedPassword }).returning().get(),
      ),
    findByEmail: async (email, networkDigest = "") =>
      (await reader.attempt(() => byEmail({ email, networkDigest })))[0] ?? null,
    storeNetwork: (userId, networkDigest) =>
      writer.attempt(async () => {
        const ofUser = eq(userNetworks.userId, userId);
        const latest = writer.orm
          .select({ networkDigest: userNetworks.networkDigest })
          .from(userNetworks)
          .where(ofUser)
          .orderBy(desc(userNetworks.lastSeenAt))
          .limit(MAX_NETWORKS);
        await writer.orm
          .insert(userNetworks)
          .values({ userId, networkDigest })
          .onConflictDoUpdate({
            target: [userNetworks.userId, userNetworks.networkDigest],
            set: { lastSeenAt: now },
          });
        await writer.orm
          .delete(userNetworks)
          .where(and(ofUser, notInArray(userNetworks.networkDigest, latest)));
      }),
    findByUsername: async (username) => (await reader.attempt(() => byUsername({ username })))[0] ?? null,
    update: (id, { username, hashedPassword, passwordChangeTokenId = null }, expected) => {
      if (hashedPassword !== undefined)
        return change(id, { username, hashedPassword, ...revocation(passwordChangeTokenId) }, expected);
      return username === undefined ? findById(id) : change(id, { username }, expected);
    },
    revokeTokens: (id) => change(id, revocation(null)),
    setActive: (id, isActive) => change(id, { isActive }),
    delete: async (id) => {
      const query = writer.orm.delete(users).where(eq(users.id, id)).returning({ id: users.id });
      return (await writer.attempt(() => query.get())) !== undefined;
    },
    list: ({ after, limit }) => reader.attempt(() => page({ after, limit })),
  };
}

/** Values that revoke all tokens of a user except one. */
const revocation = (passwordChangeTokenId: string | null) => ({
  tokenVersion: sql`${users.tokenVersion} + 1`,
  passwordChangeTokenId,
});
