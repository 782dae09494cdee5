/** Names for the shapes of requests and responses. */
import type { components, operations } from "./schema.ts";

type Schemas = components["schemas"];

export type RegisterRequest = Schemas["RegisterRequest"];
export type LoginRequest = Schemas["LoginRequest"];
export type UpdateUserRequest = Schemas["UpdateUserRequest"];
export type CreateTodoRequest = Schemas["CreateTodoRequest"];
export type UpdateTodoRequest = Schemas["UpdateTodoRequest"];
/** `limit`: todos per page, 1 to 100. `cursor`: the `next_cursor` of the previous page. */
export type TodoQuery = NonNullable<operations["listTodos"]["parameters"]["query"]>;
export type User = Schemas["User"];
export type Token = Schemas["Token"];
export type Todo = Schemas["Todo"];
export type TodoPage = Schemas["TodoPage"];
/** One error of an invalid request: where it is, what is wrong, and a stable name for it. */
export type ValidationIssue = Schemas["ValidationIssue"];
