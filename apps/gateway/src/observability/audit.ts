/** The security-relevant events of users. A request has at most one, which its log line and a counter record. */

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
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

export interface AuditEntry {
  readonly event: AuditEvent;
  /** undefined: no user has the e-mail, or the registration was rejected. */
  readonly userId: number | undefined;
  readonly emailDigest: string;
}
