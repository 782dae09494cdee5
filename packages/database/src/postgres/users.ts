/** Users in PostgreSQL. Each method runs one statement and is therefore atomic. */
import { and, asc, eq, gt, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { ExpectedUser, User, UserRepository } from "../repositories.ts";
import { type PostgresClient, singleRow } from "./client.ts";
import { now, users } from "./schema.ts";

export function createUserRepository({ orm, prepare, attempt }: PostgresClient): UserRepository {
  const byId = prepare(
    orm
      .select()
      .from(users)
      .where(eq(users.id, sql.placeholder("id"))),
  );
  const byEmail = prepare(
    orm
      .select()
      .from(users)
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
    findByEmail: async (email) => (await attempt(() => byEmail({ email })))[0] ?? null,
    findByUsername: async (username) => {
      const query = orm.select().from(users).where(eq(users.username, username));
      return (await attempt(() => query.execute()))[0] ?? null;
    },
    update: (id, { username, hashedPassword }, expected) =>
      username === undefined && hashedPassword === undefined
        ? findById(id)
        : change(id, { username, hashedPassword }, expected),
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
