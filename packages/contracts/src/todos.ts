/** The wire shapes of todos and of their pages. */
import Type from "typebox";
import { ID_MAX } from "./bounds.ts";
import { PAGE_PARAMETERS, pageOf } from "./pages.ts";
import { Timestamp, text } from "./text.ts";

const Id = Type.Integer({ minimum: 1, maximum: ID_MAX, examples: [1] });
const Title = text({ minLength: 1, maxLength: 200, examples: ["Buy milk"] });

export const Todo = Type.Object({
  id: Id,
  title: Title,
  completed: Type.Boolean({ examples: [false] }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Todo = Type.Static<typeof Todo>;

type StoredTodo = Pick<Todo, "id" | "title" | "completed"> &
  Readonly<Record<"createdAt" | "updatedAt", string>>;

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toTodo = (stored: StoredTodo): Todo => ({
  id: stored.id,
  title: stored.title,
  completed: stored.completed,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
});

export const CreateTodoRequest = Type.Object(
  { title: Title, completed: Type.Optional(Type.Boolean({ description: "False if omitted." })) },
  { examples: [{ title: "Buy milk" }] },
);
export type CreateTodoRequest = Type.Static<typeof CreateTodoRequest>;

export const UpdateTodoRequest = Type.Object(
  { title: Type.Optional(Title), completed: Type.Optional(Type.Boolean()) },
  { examples: [{ completed: true }] },
);
export type UpdateTodoRequest = Type.Static<typeof UpdateTodoRequest>;

export const TodoPath = Type.Object({ id: Id });

export const TodoQuery = Type.Object(PAGE_PARAMETERS);

export const TodoPage = pageOf(Todo);
export type TodoPage = Type.Static<typeof TodoPage>;

/** The keys are the names in the OpenAPI document. */
export const TODO_REQUESTS = { CreateTodoRequest, UpdateTodoRequest };
export const TODO_RESPONSES = { TodoResponse: Todo, TodoPageResponse: TodoPage };
