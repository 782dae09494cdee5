/** The security-relevant events of users, in the logs of the service and of the admin tool. */

/** Events of the service, each of which its metrics count. */
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

/** The admin tool also activates and deactivates users, and changes their roles. */
export type AuditEvent =
  | (typeof AUDIT_EVENTS)[number]
  | "user.activated"
  | "user.deactivated"
  | "roles.changed";

/** Why the response of an authenticator is rejected: only in the log and the metrics of the service. */
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
