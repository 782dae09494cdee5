/**
 * The security-relevant events of users. A request has at most one, which its log line and a counter record, and can also
 * replace an imported hash, which has a log line of its own.
 */

export const AUDIT_EVENTS = [
  "user.registered",
  "user.rejected",
  "user.updated",
  "user.deleted",
  "login.succeeded",
  "login.failed",
  "login.limited",
  "password.changed",
  "password.rejected",
  "password.limited",
  "password.reset",
  "reset.requested",
  "email.verified",
  "tokens.revoked",
  "password.rehashed",
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export interface AuditEntry {
  readonly event: AuditEvent;
  /** undefined: no user has the e-mail, or the registration was rejected. */
  readonly userId: number | undefined;
  readonly emailDigest: string;
  /** Of the imported hash that was replaced. */
  readonly format?: string;
}
