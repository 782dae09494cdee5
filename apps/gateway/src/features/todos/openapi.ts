/** The todo operations: path parameters, queries, bodies, and descriptions in the OpenAPI document. */
import { CreateTodoRequest, TodoPath, TodoQuery, UpdateTodoRequest } from "@latchkey/contracts";
import { defineOperations } from "../../openapi/operation.ts";

export const operations = defineOperations("Todos", {
  listTodos: {
    summary: "List todos by page",
    description: "In ascending order of id. A malformed cursor starts the listing at the beginning.",
    query: TodoQuery,
    success: { status: 200, description: "A page.", schema: "TodoPageResponse" },
  },
  createTodo: {
    summary: "Create a todo",
    description: "A todo without `completed` is not completed.",
    body: CreateTodoRequest,
    success: { status: 201, description: "The new todo.", schema: "TodoResponse" },
  },
  getTodo: {
    summary: "Read a todo",
    description: "Todos have no owner: every client can read, change and delete each of them.",
    params: TodoPath,
    success: { status: 200, description: "The todo.", schema: "TodoResponse" },
    errors: ["TODO_NOT_FOUND"],
  },
  updateTodo: {
    summary: "Update a todo",
    description: "An empty object changes nothing.",
    params: TodoPath,
    body: UpdateTodoRequest,
    success: { status: 200, description: "The updated todo.", schema: "TodoResponse" },
    errors: ["TODO_NOT_FOUND"],
  },
  deleteTodo: {
    summary: "Delete a todo",
    description: "Cannot be undone. The id is never used again.",
    params: TodoPath,
    success: { status: 204, description: "The todo is deleted." },
    errors: ["TODO_NOT_FOUND"],
  },
});
