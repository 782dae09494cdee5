/** The tool's log of changes: one JSON line on standard error per changed user, with the fields of the service's log. */
import { toJson, writeError } from "@latchkey/cli";
import type { User } from "@latchkey/database";

/** The service logs all but `user.activated` and `user.deactivated` under the same names. */
type AuditEvent =
  | "user.registered"
  | "user.activated"
  | "user.deactivated"
  | "user.deleted"
  | "password.changed"
  | "tokens.revoked";

/** Logs that the change was made, and returns the user. */
export function audited(event: AuditEvent, user: User): User {
  writeError(
    `${toJson({ level: "info", time: new Date().toISOString(), event, user_id: user.id, msg: event })}\n`,
  );
  return user;
}
