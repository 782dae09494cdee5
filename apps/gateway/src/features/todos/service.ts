/** The rules of todos: keyset pagination, and an error if a todo does not exist. The rules do not depend on HTTP. */
import type { CreateTodoRequest, UpdateTodoRequest } from "@latchkey/contracts";
import type { PageRequest, Todo, TodoRepository } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";

export interface TodoService {
  create(todo: CreateTodoRequest): Promise<Todo>;
  /** @throws TODO_NOT_FOUND */
  read(id: number): Promise<Todo>;
  /** An empty change changes nothing. @throws TODO_NOT_FOUND */
  update(id: number, change: UpdateTodoRequest): Promise<Todo>;
  /** @throws TODO_NOT_FOUND */
  delete(id: number): Promise<void>;
  /**
   * Returns the first `limit` todos with an id greater than `after`, in ascending order of id. `nextAfter` is the id of the
   * last returned todo, or null if there is no next page.
   */
  list(page: PageRequest): Promise<{ readonly items: readonly Todo[]; readonly nextAfter: number | null }>;
}

export const createTodoService = (todos: TodoRepository): TodoService => ({
  create: ({ title, completed = false }) => todos.create({ title, completed }),
  read: async (id) => found(await todos.findById(id)),
  update: async (id, change) => found(await todos.update(id, change)),
  async delete(id) {
    if (!(await todos.delete(id))) throw new ServiceError("TODO_NOT_FOUND");
  },
  async list({ after, limit }) {
    // One more row shows whether there is a next page.
    const rows = await todos.list({ after, limit: limit + 1 });
    const items = rows.slice(0, limit);
    return { items, nextAfter: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
  },
});

function found(todo: Todo | null): Todo {
  if (!todo) throw new ServiceError("TODO_NOT_FOUND");
  return todo;
}
