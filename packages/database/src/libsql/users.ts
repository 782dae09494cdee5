/** Users in libsql. Each method runs one statement and is therefore atomic. */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import { QueryBuilder, type SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { ExpectedUser, UserRepository } from "../repositories.ts";
import type { LibsqlClient } from "./client.ts";
import { now, users } from "./schema.ts";

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
      .select()
      .from(users)
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
    findByEmail: async (email) => (await reader.attempt(() => byEmail({ email })))[0] ?? null,
    findByUsername: async (username) => (await reader.attempt(() => byUsername({ username })))[0] ?? null,
    update: (id, { username, hashedPassword }, expected) =>
      username === undefined && hashedPassword === undefined
        ? findById(id)
        : change(id, { username, hashedPassword }, expected),
    setActive: (id, isActive) => change(id, { isActive }),
    delete: async (id) => {
      const query = writer.orm.delete(users).where(eq(users.id, id)).returning({ id: users.id });
      return (await writer.attempt(() => query.get())) !== undefined;
    },
    list: ({ after, limit }) => reader.attempt(() => page({ after, limit })),
  };
}
