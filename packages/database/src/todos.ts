/** Todos in either database. Each method runs one statement and is therefore atomic. */
import { asc, eq, gt } from "drizzle-orm";
import { type PageRequest, placeholders, type RepositoryClient, type Tables } from "./repository-client.ts";
import { singleRow } from "./row-decoder.ts";

type TodoValues = Pick<Tables["todos"]["$inferSelect"], "title" | "completed">;

export function createTodoRepository({ orm, prepare, run }: RepositoryClient, { todos, now }: Tables) {
  const given = placeholders("id", "after", "limit");
  const byId = prepare(orm.select().from(todos).where(eq(todos.id, given.id)));
  const page = prepare(
    orm.select().from(todos).where(gt(todos.id, given.after)).orderBy(asc(todos.id)).limit(given.limit),
  );

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  return {
    findById,
    create: async ({ title, completed }: TodoValues) =>
      singleRow(await run(orm.insert(todos).values({ title, completed }).returning())),
    /** Sets `updatedAt` unless the change is empty. Returns null if the todo does not exist. */
    update: async (id: number, { title, completed }: Partial<TodoValues>) => {
      if (title === undefined && completed === undefined) return findById(id);
      const query = orm.update(todos).set({ title, completed, updatedAt: now });
      const [todo = null] = await run(query.where(eq(todos.id, id)).returning());
      return todo;
    },
    /** Returns false if the todo does not exist. */
    delete: async (id: number) => {
      const query = orm.delete(todos).where(eq(todos.id, id)).returning({ id: todos.id });
      return (await run(query)).length > 0;
    },
    list: ({ after, limit }: PageRequest) => page({ after, limit }),
  };
}
