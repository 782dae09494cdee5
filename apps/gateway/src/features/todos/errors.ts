/** The errors of the todo service; the database throws its own. */
import type { ErrorCode } from "@latchkey/contracts";

export class TodoNotFound extends Error {
  override readonly name = "TodoNotFound";
  readonly code = "TODO_NOT_FOUND" satisfies ErrorCode;
}
