/** The todo routes. This file handles only HTTP; `service.ts` contains the rules. */
import { PAGE_SIZE_DEFAULT, type Todo, type TodoPage, TodoQuery, toTodo } from "@latchkey/contracts";
import { Elysia } from "elysia";
import { queryValidator } from "../../http/validator.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { operations } from "./openapi.ts";
import type { TodoService } from "./service.ts";

/** Removes a repeated `cursor`: repetition makes a cursor malformed, and malformed cursors are ignored. */
const dropRepeatedCursor = ({ cursor, ...others }: Record<string, unknown>) =>
  typeof cursor === "string" ? { ...others, cursor } : others;

const readQuery = queryValidator(TodoQuery, dropRepeatedCursor);

export function todoRoutes(todoService: TodoService) {
  return new Elysia({ name: "todos" })
    .get(
      "/todos",
      async ({ request }): Promise<TodoPage> => {
        const { cursor, limit = PAGE_SIZE_DEFAULT } = readQuery(request.url);
        const after = (cursor !== undefined && decodeCursor(cursor)) || 0;
        const { items, nextAfter } = await todoService.list({ after, limit });
        return {
          items: items.map(toTodo),
          next_cursor: nextAfter === null ? null : encodeCursor(nextAfter),
        };
      },
      operations.listTodos,
    )
    .post(
      "/todos",
      async ({ body }): Promise<Todo> => toTodo(await todoService.create(body)),
      operations.createTodo,
    )
    .get(
      "/todos/:id",
      async ({ params: { id } }): Promise<Todo> => toTodo(await todoService.read(id)),
      operations.getTodo,
    )
    .patch(
      "/todos/:id",
      async ({ params: { id }, body }): Promise<Todo> => toTodo(await todoService.update(id, body)),
      operations.updateTodo,
    )
    .delete("/todos/:id", ({ params: { id } }) => todoService.delete(id), operations.deleteTodo);
}
