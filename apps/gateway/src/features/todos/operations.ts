/** The todo operations in the OpenAPI document. */
import { TodoQuery } from "@latchkey/contracts";
import { describeOperations } from "../../docs/operation.ts";

export const operations = describeOperations("Todos", {
  listTodos: {
    summary: "List todos by page",
    description: "In ascending order of id. A malformed cursor starts the listing at the beginning.",
    query: TodoQuery,
    success: { status: 200, description: "A page.", schema: "TodoPageResponse" },
    errors: ["INVALID_REQUEST"],
  },
  createTodo: {
    summary: "Create a todo",
    success: { status: 201, description: "The new todo.", schema: "TodoResponse" },
    errors: ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE"],
  },
  getTodo: {
    summary: "Read a todo",
    success: { status: 200, description: "The todo.", schema: "TodoResponse" },
    errors: ["TODO_NOT_FOUND", "INVALID_REQUEST"],
  },
  updateTodo: {
    summary: "Update a todo",
    description: "An empty object changes nothing.",
    success: { status: 200, description: "The updated todo.", schema: "TodoResponse" },
    errors: ["TODO_NOT_FOUND", "INVALID_REQUEST", "PAYLOAD_TOO_LARGE"],
  },
  deleteTodo: {
    summary: "Delete a todo",
    success: { status: 204, description: "The todo is deleted." },
    errors: ["TODO_NOT_FOUND", "INVALID_REQUEST"],
  },
});
