/** The wire shapes of account events, which programs of the operator follow. They contain no names and no addresses. */
import Type from "typebox";
import { ID_MAX } from "./bounds.ts";
import { Timestamp, text } from "./text.ts";

const EVENT_PAGE_SIZE_MAX = 1_000;
export const EVENT_PAGE_SIZE_DEFAULT = 100;
export const EVENT_WAIT_MAX_SECONDS = 25;
/** A day longer than events can be kept. */
const SINCE_MAX_SECONDS = 366 * 24 * 60 * 60;
/** Longer than every cursor. */
const CURSOR_MAX_LENGTH = 1_000;
/** The `after` that stands for the end of the feed. */
export const END_OF_EVENTS = "now";

const orNull = <Schema extends Type.TSchema>(schema: Schema, options: Type.TSchemaOptions) =>
  Type.Union([schema, Type.Null()], options);

export const AccountEvent = Type.Object({
  position: Type.Integer({
    minimum: 1,
    maximum: ID_MAX,
    description: "Identifies the event, also after a restore. In ascending order, not always without gaps.",
    examples: [42],
  }),
  type: Type.String({
    description:
      "`user.created`, `user.updated`, `user.deleted` or `database.restored`. Later versions can add types.",
    examples: ["user.updated"],
  }),
  user_id: orNull(Type.Integer({ minimum: 1, maximum: ID_MAX }), {
    description: "null: the event concerns all users (`database.restored`).",
    examples: [1],
  }),
  changed: Type.Array(Type.String(), {
    description:
      "Of `user.updated`: which of `email`, `email_verified`, `username`, `roles`, `claims`, `is_active` and `tokens` (all tokens ended). Later versions can add names.",
    examples: [["is_active"]],
  }),
  is_active: orNull(Type.Boolean(), {
    description: "Whether the user was active after the change. null if there is no such user.",
    examples: [false],
  }),
  token_version: orNull(Type.Integer({ minimum: 0, maximum: ID_MAX }), {
    description: "Tokens of the user with a smaller `ver` are revoked, except the one in `kept_jti`.",
    examples: [3],
  }),
  kept_jti: orNull(Type.String(), {
    description: "The `jti` of the token that made the latest password change, which remains valid.",
    examples: [null],
  }),
  created_at: Timestamp,
});
export type AccountEvent = Type.Static<typeof AccountEvent>;

interface StoredEvent {
  readonly position: number;
  readonly type: string;
  readonly userId: number | null;
  readonly changed: readonly string[];
  readonly isActive: boolean | null;
  readonly tokenVersion: number | null;
  readonly keptJti: string | null;
  readonly createdAt: string;
}

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toAccountEvent = (event: StoredEvent): AccountEvent => ({
  position: event.position,
  type: event.type,
  user_id: event.userId,
  changed: [...event.changed],
  is_active: event.isActive,
  token_version: event.tokenVersion,
  kept_jti: event.keptJti,
  created_at: event.createdAt,
});

export const AccountEventPage = Type.Object({
  items: Type.Array(AccountEvent, { maxItems: EVENT_PAGE_SIZE_MAX }),
  next_cursor: Type.String({
    description: "Send it as `after`, also if `items` is empty.",
    examples: ["WyJldmVudHMiXQ.c2lnbmF0dXJl"],
  }),
});
export type AccountEventPage = Type.Static<typeof AccountEventPage>;

export const AccountEventQuery = Type.Object({
  after: Type.Optional(
    text({
      maxLength: CURSOR_MAX_LENGTH,
      description: `The \`next_cursor\` of the previous response, or \`${END_OF_EVENTS}\` for a cursor at the end, without items. Absent: from the oldest event.`,
      examples: [END_OF_EVENTS],
    }),
  ),
  since: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: SINCE_MAX_SECONDS,
      description:
        "In place of `after`: returns a cursor before the first event of the last so many seconds, without items.",
      examples: [3660],
    }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: EVENT_PAGE_SIZE_MAX,
      default: EVENT_PAGE_SIZE_DEFAULT,
      examples: [EVENT_PAGE_SIZE_DEFAULT],
    }),
  ),
  wait: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: EVENT_WAIT_MAX_SECONDS,
      default: 0,
      description:
        "How many seconds to wait for an event if there is none; at most five less than `IDLE_TIMEOUT_SECONDS`. Returns no items after this time.",
      examples: [EVENT_WAIT_MAX_SECONDS],
    }),
  ),
});
export type AccountEventQuery = Type.Static<typeof AccountEventQuery>;

export const EVENT_SCHEMAS = {
  AccountEventResponse: AccountEvent,
  AccountEventPageResponse: AccountEventPage,
};
