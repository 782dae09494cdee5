/** The wire shapes of the pages of lists. */
import Type from "typebox";
import { ID_MAX, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX } from "./bounds.ts";

/** The content of a page's `next_cursor`: the id of the last item on that page. */
export const CursorPayload = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: ID_MAX, examples: [1] }),
});

/** Any `cursor` is valid: a malformed cursor starts the listing at the beginning. */
export const PAGE_PARAMETERS = {
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
};

export const pageOf = <Item extends Type.TSchema>(item: Item, options: Type.TObjectOptions = {}) =>
  Type.Object(
    {
      items: Type.Array(item, { maxItems: PAGE_SIZE_MAX }),
      // A client that reads all pages of a mock server reaches the end.
      next_cursor: Type.Union([Type.String(), Type.Null()], { examples: [null] }),
    },
    options,
  );
