/** What the rules of todos throw, beside what the database does. */
import type { ErrorCode } from "@latchkey/contracts";

export class TodoNotFound extends Error {
  override readonly name = "TodoNotFound";
  readonly code = "TODO_NOT_FOUND" satisfies ErrorCode;
}
