/** The operations on todos. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { decodeCursor, encodeCursor } from "../../http/cursor.ts";
import { wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { TodoService } from "./service.ts";

const operation = userOperation({ tag: "Todos", feature: "todos" });

export const todoOperations = (todoService: TodoService) => [
  operation({
    id: "listTodos",
    method: "GET",
    path: "/todos",
    summary: "List todos by page",
    description: "In ascending order of id. A malformed cursor starts the listing at the beginning.",
    query: contracts.TodoQuery,
    // Repetition makes a cursor malformed, and malformed cursors are ignored.
    normalizeQuery: ({ cursor, ...others }) => (typeof cursor === "string" ? { ...others, cursor } : others),
    issues: [wrongType("query", "limit", "integer")],
    success: { status: 200, description: "A page.", schema: contracts.TodoPage },
    async handler({ query: { cursor, limit = contracts.PAGE_SIZE_DEFAULT } }) {
      const after = (cursor !== undefined && decodeCursor(cursor)) || 0;
      const { items, nextAfter } = await todoService.list({ after, limit });
      return {
        items: items.map(contracts.toTodo),
        next_cursor: nextAfter === null ? null : encodeCursor(nextAfter),
      };
    },
  }),
  operation({
    id: "createTodo",
    method: "POST",
    path: "/todos",
    summary: "Create a todo",
    description: "A todo without `completed` is not completed.",
    body: contracts.CreateTodoRequest,
    issues: [wrongType("body", "completed", "boolean")],
    success: { status: 201, description: "The new todo.", schema: contracts.Todo },
    handler: async ({ body }) => contracts.toTodo(await todoService.create(body)),
  }),
  operation({
    id: "getTodo",
    method: "GET",
    path: "/todos/:id",
    summary: "Read a todo",
    description: "Todos have no owner: every client can read, change and delete each of them.",
    params: contracts.TodoPath,
    issues: [wrongType("path", "id", "integer")],
    success: { status: 200, description: "The todo.", schema: contracts.Todo },
    errors: ["TODO_NOT_FOUND"],
    handler: async ({ params }) => contracts.toTodo(await todoService.read(params.id)),
  }),
  operation({
    id: "updateTodo",
    method: "PATCH",
    path: "/todos/:id",
    summary: "Update a todo",
    description: "An empty object changes nothing.",
    params: contracts.TodoPath,
    body: contracts.UpdateTodoRequest,
    issues: [wrongType("path", "id", "integer")],
    success: { status: 200, description: "The updated todo.", schema: contracts.Todo },
    errors: ["TODO_NOT_FOUND"],
    handler: async ({ params, body }) => contracts.toTodo(await todoService.update(params.id, body)),
  }),
  operation({
    id: "deleteTodo",
    method: "DELETE",
    path: "/todos/:id",
    summary: "Delete a todo",
    description: "Cannot be undone. The id is never used again.",
    params: contracts.TodoPath,
    issues: [wrongType("path", "id", "integer")],
    success: { status: 204, description: "The todo is deleted." },
    errors: ["TODO_NOT_FOUND"],
    handler: ({ params }) => todoService.delete(params.id),
  }),
];
