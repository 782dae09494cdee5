/** Todos in PostgreSQL. Each method runs one statement and is therefore atomic. */
import { asc, eq, gt, sql } from "drizzle-orm";
import type { PgUpdateSetSource } from "drizzle-orm/pg-core";
import type { Todo, TodoRepository } from "../repositories.ts";
import { type PostgresClient, singleRow } from "./client.ts";
import { now, todos } from "./schema.ts";

export function createTodoRepository({ orm, prepare, attempt }: PostgresClient): TodoRepository {
  const byId = prepare(
    orm
      .select()
      .from(todos)
      .where(eq(todos.id, sql.placeholder("id"))),
  );
  const page = prepare(
    orm
      .select()
      .from(todos)
      .where(gt(todos.id, sql.placeholder("after")))
      .orderBy(asc(todos.id))
      .limit(sql.placeholder("limit")),
  );

  const findById = async (id: number): Promise<Todo | null> => (await attempt(() => byId({ id })))[0] ?? null;

  const change = async (id: number, values: PgUpdateSetSource<typeof todos>): Promise<Todo | null> => {
    const query = orm
      .update(todos)
      .set({ ...values, updatedAt: now })
      .where(eq(todos.id, id))
      .returning();
    return (await attempt(() => query.execute()))[0] ?? null;
  };

  return {
    findById,
    create: async ({ title, completed }) => {
      const query = orm.insert(todos).values({ title, completed }).returning();
      return singleRow(await attempt(() => query.execute()));
    },
    update: (id, { title, completed }) =>
      title === undefined && completed === undefined ? findById(id) : change(id, { title, completed }),
    delete: async (id) => {
      const query = orm.delete(todos).where(eq(todos.id, id)).returning({ id: todos.id });
      return (await attempt(() => query.execute())).length > 0;
    },
    list: ({ after, limit }) => attempt(() => page({ after, limit })),
  };
}
