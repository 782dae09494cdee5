/** Todos in either database. Each method runs one statement and is therefore atomic. */
import { asc, eq, gt } from "drizzle-orm";
import type { TodoRepository } from "./repositories.ts";
import { placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";

export function createTodoRepository(
  { orm, prepare, attempt }: RepositoryClient,
  { todos, now }: Tables,
): TodoRepository {
  const given = placeholders("id", "after", "limit");
  const byId = prepare(orm.select().from(todos).where(eq(todos.id, given.id)));
  const page = prepare(
    orm.select().from(todos).where(gt(todos.id, given.after)).orderBy(asc(todos.id)).limit(given.limit),
  );

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  return {
    findById,
    create: async ({ title, completed }) => {
      const query = orm.insert(todos).values({ title, completed }).returning();
      return singleRow(await attempt(() => query.execute()));
    },
    update: async (id, { title, completed }) => {
      if (title === undefined && completed === undefined) return findById(id);
      const values = { title, completed, updatedAt: now };
      const query = orm.update(todos).set(values).where(eq(todos.id, id)).returning();
      return (await attempt(() => query.execute()))[0] ?? null;
    },
    delete: async (id) => {
      const query = orm.delete(todos).where(eq(todos.id, id)).returning({ id: todos.id });
      return (await attempt(() => query.execute())).length > 0;
    },
    list: ({ after, limit }) => page({ after, limit }),
  };
}
