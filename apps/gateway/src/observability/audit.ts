/** The security-relevant events of users, in the log and the metrics. */
import type { User } from "@latchkey/database";

export const AUDIT_EVENTS = [
  "user.registered",
  "user.rejected",
  "user.updated",
  "user.deleted",
  "login.succeeded",
  "login.failed",
  "login.limited",
  "login.inactive",
  "password.changed",
  "password.rejected",
  "password.limited",
  "password.reset",
  "reset.requested",
  "email.verified",
  "email.change_requested",
  "email.changed",
  "tokens.revoked",
  "password.rehashed",
  "passkey.created",
  "passkey.removed",
  "passkey.rejected",
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

/** Why the response of an authenticator is rejected. */
export const PASSKEY_REJECTIONS = [
  "state",
  "credential",
  "origin",
  "response",
  "user_handle",
  "counter",
  "used",
] as const;
export type PasskeyRejection = (typeof PASSKEY_REJECTIONS)[number];

/** A request has at most one event, in its log line and in a counter. A replaced imported hash has a log line of its own. */
export interface AuditEntry extends AuditDetails {
  readonly event: AuditEvent;
  /** undefined: no user has the e-mail, or the registration was rejected. */
  readonly userId: number | undefined;
  /** undefined: the request names no e-mail. */
  readonly emailDigest: string | undefined;
  /** Of the imported hash that was replaced. */
  readonly format?: string;
}

export interface AuditDetails {
  /** Of `passkey.rejected`. */
  readonly reason?: PasskeyRejection;
  /** Of `login.succeeded`, as in the token. */
  readonly amr?: readonly string[] | undefined;
}

/** The request of an operation on users, and its log line. */
export interface AuthRequest {
  readonly signal: AbortSignal;
  /** The client's IPv4 address or IPv6 /64. */
  readonly network: string;
  /** Adds an event to the log line; the last one counts. */
  audit(event: AuditEvent, email: string | null, userId?: number, details?: AuditDetails): void;
  /** Logs that the imported hash of a user was replaced. */
  rehashed(format: string, user: User): void;
  /** Adds an error to the log line that does not change the response. */
  warn(error: Error): void;
}
