/** Todos in libsql. Each method runs one statement and is therefore atomic. */
import { asc, eq, gt, sql } from "drizzle-orm";
import { QueryBuilder, type SQLiteUpdateSetSource } from "drizzle-orm/sqlite-core";
import type { TodoRepository } from "../repositories.ts";
import type { LibsqlClient } from "./client.ts";
import { now, todos } from "./schema.ts";

export function createTodoRepository({ reader, writer }: LibsqlClient): TodoRepository {
  const builder = new QueryBuilder();
  const byId = reader.prepare(
    builder
      .select()
      .from(todos)
      .where(eq(todos.id, sql.placeholder("id"))),
  );
  const page = reader.prepare(
    builder
      .select()
      .from(todos)
      .where(gt(todos.id, sql.placeholder("after")))
      .orderBy(asc(todos.id))
      .limit(sql.placeholder("limit")),
  );

  const findById = async (id: number) => (await reader.attempt(() => byId({ id })))[0] ?? null;

  const change = async (id: number, values: SQLiteUpdateSetSource<typeof todos>) => {
    const query = writer.orm
      .update(todos)
      .set({ ...values, updatedAt: now })
      .where(eq(todos.id, id))
      .returning();
    return (await writer.attempt(() => query.get())) ?? null;
  };

  return {
    findById,
    create: ({ title, completed }) =>
      writer.attempt(() => writer.orm.insert(todos).values({ title, completed }).returning().get()),
    update: (id, { title, completed }) =>
      title === undefined && completed === undefined ? findById(id) : change(id, { title, completed }),
    delete: async (id) => {
      const query = writer.orm.delete(todos).where(eq(todos.id, id)).returning({ id: todos.id });
      return (await writer.attempt(() => query.get())) !== undefined;
    },
    list: ({ after, limit }) => reader.attempt(() => page({ after, limit })),
  };
}
