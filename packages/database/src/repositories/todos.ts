/** Todos. Each method runs one statement and is therefore atomic. */
import { asc, eq, gt } from "drizzle-orm";
import type { Dialect } from "../dialect.ts";
import { singleRow } from "../row-decoder.ts";
import type { Todo } from "../tables.ts";
import { type PageRequest, placeholders, type RepositoryClient } from "./repository-client.ts";

type TodoValues = Pick<Todo, "title" | "completed">;

export interface TodoRepository {
  findById(id: number): Promise<Todo | null>;
  create(values: TodoValues): Promise<Todo>;
  /** Sets `updatedAt` unless the change is empty. Returns null if the todo does not exist. */
  update(id: number, change: Partial<TodoValues>): Promise<Todo | null>;
  /** Returns false if the todo does not exist. */
  delete(id: number): Promise<boolean>;
  list(page: PageRequest): Promise<Todo[]>;
}

export function createTodoRepository(
  { orm, prepare, run }: RepositoryClient,
  { tables: { todos }, now }: Dialect,
): TodoRepository {
  const given = placeholders("id", "after", "limit");
  const byId = prepare(orm.select().from(todos).where(eq(todos.id, given.id)));
  const page = prepare(
    orm.select().from(todos).where(gt(todos.id, given.after)).orderBy(asc(todos.id)).limit(given.limit),
  );

  const findById = async (id: number) => (await byId({ id }))[0] ?? null;

  return {
    findById,
    create: async ({ title, completed }) =>
      singleRow(await run(orm.insert(todos).values({ title, completed }).returning())),
    update: async (id, { title, completed }) => {
      if (title === undefined && completed === undefined) return findById(id);
      const query = orm.update(todos).set({ title, completed, updatedAt: now });
      const [todo = null] = await run(query.where(eq(todos.id, id)).returning());
      return todo;
    },
    delete: async (id) => {
      const query = orm.delete(todos).where(eq(todos.id, id)).returning({ id: todos.id });
      return (await run(query)).length > 0;
    },
    list: ({ after, limit }) => page({ after, limit }),
  };
}
