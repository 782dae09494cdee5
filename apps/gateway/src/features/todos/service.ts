/** The rules of todos: keyset pagination, and an error if a todo does not exist. The rules do not depend on HTTP. */
import type { CreateTodoRequest, UpdateTodoRequest } from "@latchkey/contracts";
import type { PageRequest, Todo, TodoRepository } from "@latchkey/database";
import { ServiceError } from "../../errors.ts";

export type TodoService = ReturnType<typeof createTodoService>;

export function createTodoService(todos: TodoRepository) {
  return {
    create: ({ title, completed = false }: CreateTodoRequest): Promise<Todo> =>
      todos.create({ title, completed }),
    /** @throws TODO_NOT_FOUND */
    read: async (id: number): Promise<Todo> => found(await todos.findById(id)),
    /** An empty change changes nothing. @throws TODO_NOT_FOUND */
    update: async (id: number, change: UpdateTodoRequest): Promise<Todo> =>
      found(await todos.update(id, change)),
    /** @throws TODO_NOT_FOUND */
    async delete(id: number): Promise<void> {
      if (!(await todos.delete(id))) throw new ServiceError("TODO_NOT_FOUND");
    },
    /**
     * Returns the first `limit` todos with an id greater than `after`, in ascending order of id. `nextAfter` is the id of the
     * last returned todo, or null if there is no next page.
     */
    async list({ after, limit }: PageRequest) {
      // One more row shows whether there is a next page.
      const rows = await todos.list({ after, limit: limit + 1 });
      const items = rows.slice(0, limit);
      return { items, nextAfter: rows.length > limit ? (items.at(-1)?.id ?? null) : null };
    },
  };
}

function found(todo: Todo | null): Todo {
  if (!todo) throw new ServiceError("TODO_NOT_FOUND");
  return todo;
}
