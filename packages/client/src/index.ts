/** The public API of `@latchkey/client`. Runs on Node 20 and later, on Bun and in browsers. */
export { type Client, type ClientOptions, createClient, type RequestOptions } from "./client.ts";
export { type ErrorCode, LatchkeyError } from "./errors.ts";
export type {
  CreateTodoRequest,
  LoginRequest,
  PublicKeySet,
  RegisterRequest,
  Todo,
  TodoPage,
  TodoQuery,
  Token,
  UpdateTodoRequest,
  UpdateUserRequest,
  User,
  ValidationIssue,
} from "./types.ts";
