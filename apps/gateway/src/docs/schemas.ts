/**
 * The wire contracts as OpenAPI 3.0.3 schemas, each with an example. They are written as JSON Schema, of which 3.0.3
 * knows a dialect; what differs is translated here and nowhere else.
 */
import {
  type CreateTodoRequest,
  ErrorBody,
  Live,
  type LoginRequest,
  Ready,
  type RegisterRequest,
  Todo,
  TodoPage,
  Token,
  Unready,
  type UpdateTodoRequest,
  type UpdateUserRequest,
  User,
  ValidationErrorBody,
  ValidationIssue,
} from "@latchkey/contracts";
import type Type from "typebox";
import type { SchemaName } from "./operation.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

const SCHEMAS = {
  User,
  Token,
  Todo,
  TodoPage,
  Live,
  Ready,
  Unready,
  ErrorBody,
  ValidationErrorBody,
  ValidationIssue,
} satisfies Record<SchemaName | "ValidationIssue", Type.TObject>;

interface Examples {
  readonly User: User;
  readonly Token: Token;
  readonly Todo: Todo;
  readonly TodoPage: TodoPage;
  readonly RegisterRequest: RegisterRequest;
  readonly LoginRequest: LoginRequest;
  readonly UpdateUserRequest: UpdateUserRequest;
  readonly CreateTodoRequest: CreateTodoRequest;
  readonly UpdateTodoRequest: UpdateTodoRequest;
}

const TODO: Todo = {
  id: 1,
  title: "Buy milk",
  completed: false,
  created_at: "2026-01-31T10:20:30.123Z",
  updated_at: "2026-01-31T10:20:30.123Z",
};

/** One for each shape, so that all operations tell of the same person and the same todo. */
const EXAMPLES: Examples = {
  User: {
    id: 1,
    email: "ada@example.com",
    username: "ada",
    is_active: true,
    created_at: "2026-01-31T10:20:30.123Z",
    updated_at: "2026-01-31T10:20:30.123Z",
  },
  Token: {
    access_token: "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIiwiZXhwIjoxNzY5ODU4NDMwfQ.c2lnbmF0dXJl",
    token_type: "bearer",
  },
  Todo: TODO,
  TodoPage: { items: [TODO], next_cursor: "eyJpZCI6MX0=" },
  RegisterRequest: { email: "ada@example.com", username: "ada", password: "correct horse battery staple" },
  LoginRequest: { email: "ada@example.com", password: "correct horse battery staple" },
  UpdateUserRequest: { username: "countess" },
  CreateTodoRequest: { title: "Buy milk" },
  UpdateTodoRequest: { completed: true },
};

/** `components.schemas`: what the service answers, and the request bodies that the routes name. */
export function componentSchemas(bodies: Readonly<Record<string, JsonObject>>): Record<string, JsonObject> {
  const examples: Readonly<Record<string, unknown>> = { ...EXAMPLES };
  const translated = Object.entries({ ...bodies, ...SCHEMAS }).map(([name, schema]) => [
    name,
    { ...translateMembers(schema), ...(name in examples && { example: examples[name] }) },
  ]);
  return Object.fromEntries(translated);
}

/** The name under which a schema, as this very object, stands in `components`. */
const NAMES = new Map<object, string>(Object.entries(SCHEMAS).map(([name, schema]) => [schema, name]));

/** A schema or any part of one, in the dialect of OpenAPI 3.0.3. */
export function translate(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(translate);
  if (!isJsonObject(part)) return part;
  const name = NAMES.get(part);
  return name === undefined ? translateMembers(part) : { $ref: `#/components/schemas/${name}` };
}

/** Keywords of JSON Schema that 3.0.3 has under another name, or not at all. */
function translateMembers(schema: object): JsonObject {
  const { $id, const: constant, examples, anyOf, pattern, ...rest } = schema as JsonObject;
  return {
    ...Object.fromEntries(Object.entries(rest).map(([key, value]) => [key, translate(value)])),
    ...(constant !== undefined && { enum: [constant] }),
    ...(Array.isArray(examples) && { example: examples[0] }),
    ...(Array.isArray(anyOf) && translateUnion(anyOf)),
    ...(typeof pattern === "string" && { pattern: portable(pattern) }),
    ...(isLong(rest) && { format: "int64" }),
  };
}

/** 3.0.3 has no type `null`: what may be null is `nullable`. */
function translateUnion(members: readonly unknown[]): JsonObject {
  const others = members.filter((member) => !(isJsonObject(member) && member.type === "null"));
  const [only] = others;
  const union =
    others.length === 1 && isJsonObject(only) ? translateMembers(only) : { anyOf: others.map(translate) };
  return others.length === members.length ? union : { ...union, nullable: true };
}

/**
 * Readers of patterns differ in whether they match code points. To one that does not, a class that excludes
 * surrogates excludes every emoji; no JSON in UTF-8 carries a lone surrogate as it is, so nothing is lost.
 */
const portable = (pattern: string): string => pattern.replaceAll("\\uD800-\\uDFFF", "");

const isLong = ({ type, maximum }: JsonObject): boolean =>
  type === "integer" && typeof maximum === "number" && maximum > 2 ** 31;

const isJsonObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null;
