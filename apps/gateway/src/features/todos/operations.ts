/** The todo operations in the OpenAPI document. */
import { TodoQuery } from "@latchkey/contracts";
import { operation } from "../../docs/operation.ts";

export const listTodos = operation({
  id: "listTodos",
  tag: "Todos",
  summary: "List todos by page",
  description: "In ascending order of id. A malformed cursor starts the listing at the beginning.",
  query: TodoQuery,
  success: { status: 200, description: "A page.", schema: "TodoPageResponse" },
  errors: ["INVALID_REQUEST", "DATABASE_UNAVAILABLE"],
});

export const createTodo = operation({
  id: "createTodo",
  tag: "Todos",
  summary: "Create a todo",
  success: { status: 201, description: "The new todo.", schema: "TodoResponse" },
  errors: ["INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "DATABASE_UNAVAILABLE"],
});

export const getTodo = operation({
  id: "getTodo",
  tag: "Todos",
  summary: "Read a todo",
  success: { status: 200, description: "The todo.", schema: "TodoResponse" },
  errors: ["TODO_NOT_FOUND", "INVALID_REQUEST", "DATABASE_UNAVAILABLE"],
});

export const updateTodo = operation({
  id: "updateTodo",
  tag: "Todos",
  summary: "Update a todo",
  description: "An empty object changes nothing.",
  success: { status: 200, description: "The updated todo.", schema: "TodoResponse" },
  errors: ["TODO_NOT_FOUND", "INVALID_REQUEST", "PAYLOAD_TOO_LARGE", "DATABASE_UNAVAILABLE"],
});

export const deleteTodo = operation({
  id: "deleteTodo",
  tag: "Todos",
  summary: "Delete a todo",
  success: { status: 204, description: "The todo is deleted." },
  errors: ["TODO_NOT_FOUND", "INVALID_REQUEST", "DATABASE_UNAVAILABLE"],
});
