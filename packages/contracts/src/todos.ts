/** The wire shapes of todos, pages of todos and the cursor. */
import Type from "typebox";
import { ID_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "./bounds.ts";
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

/** Any `cursor` is valid: a malformed cursor starts the listing at the beginning. */
export const TodoQuery = Type.Object({
  cursor: Type.Optional(
    Type.String({ description: "The next_cursor of the previous page.", examples: ["eyJpZCI6MX0="] }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      default: PAGE_SIZE_DEFAULT,
      examples: [PAGE_SIZE_DEFAULT],
    }),
  ),
});

/** The content of a page's `next_cursor`: the id of the last item on that page. */
export const CursorPayload = Type.Object({ id: Id });

export const TodoPage = Type.Object({
  items: Type.Array(Todo, { maxItems: PAGE_SIZE_MAX }),
  // A client that reads all pages of a mock server reaches the end.
  next_cursor: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
});
export type TodoPage = Type.Static<typeof TodoPage>;

/** The keys are the names in the OpenAPI document. */
export const TODO_REQUESTS = { CreateTodoRequest, UpdateTodoRequest };
export const TODO_RESPONSES = { TodoResponse: Todo, TodoPageResponse: TodoPage };
