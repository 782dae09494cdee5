/** The wire shapes of todos and of the cursor that pages them. */
import Type from "typebox";
import {
  ID_MAX,
  PAGE_SIZE_DEFAULT,
  PAGE_SIZE_MAX,
  PAGE_SIZE_MIN,
  TITLE_MAX_LENGTH,
  TITLE_MIN_LENGTH,
} from "./limits.ts";
import { Timestamp, text } from "./text.ts";

const Id = Type.Integer({ minimum: 1, maximum: ID_MAX, examples: [1] });
const Title = text({ minLength: TITLE_MIN_LENGTH, maxLength: TITLE_MAX_LENGTH, examples: ["Buy milk"] });

export const Todo = Type.Object({
  id: Id,
  title: Title,
  completed: Type.Boolean({ examples: [false] }),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Todo = Type.Static<typeof Todo>;

export const CreateTodoRequest = Type.Object({
  title: Title,
  completed: Type.Optional(Type.Boolean({ default: false })),
});
export type CreateTodoRequest = Type.Static<typeof CreateTodoRequest>;

export const UpdateTodoRequest = Type.Object({
  title: Type.Optional(Title),
  completed: Type.Optional(Type.Boolean()),
});
export type UpdateTodoRequest = Type.Static<typeof UpdateTodoRequest>;

export const TodoPath = Type.Object({ id: Id });
export type TodoPath = Type.Static<typeof TodoPath>;

/** `cursor` is opaque: what does not decode starts the listing at the beginning, so any value passes. */
export const TodoQuery = Type.Object({
  cursor: Type.Optional(Type.String({ description: "The next_cursor of the page before." })),
  limit: Type.Optional(
    Type.Integer({ minimum: PAGE_SIZE_MIN, maximum: PAGE_SIZE_MAX, default: PAGE_SIZE_DEFAULT }),
  ),
});
export type TodoQuery = Type.Static<typeof TodoQuery>;

/** What a cursor carries: the key of the last item that its page showed. */
export const CursorPayload = Type.Object({ id: Id });
export type CursorPayload = Type.Static<typeof CursorPayload>;

export const TodoPage = Type.Object({
  items: Type.Array(Todo, { maxItems: PAGE_SIZE_MAX }),
  next_cursor: Type.Union([Type.String(), Type.Null()]),
});
export type TodoPage = Type.Static<typeof TodoPage>;
