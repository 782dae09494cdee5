/** The security-relevant events of users, in the log and the metrics. */

export const AUDIT_EVENTS = [
  "user.registered",
  "user.rejected",
  "user.updated",
  "user.deleted",
  "login.succeeded",
  "login.failed",
  "login.limited",
  "login.inactive",
  "login.unverified",
  "password.changed",
  "password.rejected",
  "password.limited",
  "password.reset",
  "reset.requested",
  "email.verified",
  "email.change_requested",
  "email.change_cancelled",
  "email.change_limited",
  "email.change_approved",
  "email.changed",
  "tokens.revoked",
  "password.rehashed",
  "passkey.created",
  "passkey.removed",
  "passkey.rejected",
  "login_code.requested",
  "login_code.rejected",
  "identity.created",
  "identity.removed",
  "identity.rejected",
  "login.factor_required",
  "factor.created",
  "factor.removed",
  "factor.rejected",
  "factor.locked",
  "factor.recovery_code_used",
  "factor.recovery_codes_replaced",
  "user.taken_over",
  "authorization_code.issued",
  "authorization_code.exchanged",
  "authorization_code.rejected",
  "admin.key_rejected",
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];

/** The reasons for which the response of an authenticator is rejected. */
export const PASSKEY_REJECTIONS = [
  "state",
  "credential",
  "origin",
  "response",
  "user_handle",
  "counter",
  "used",
  "busy",
] as const;
export type PasskeyRejection = (typeof PASSKEY_REJECTIONS)[number];

/**
 * The reasons for which the login with a provider is rejected. `provider`: by the provider, or because its ID token is not valid.
 * `closed`: it would create a user. `user`: other requests changed the user again and again.
 */
export type IdentityRejection =
  | "state"
  | "verifier"
  | "provider"
  | "unverified"
  | "email"
  | "closed"
  | "user";

/** `used`: a code of this time step or a later one was accepted before. `paused`: after too many wrong codes. */
export type FactorRejection = "code" | "used" | "recovery_code" | "paused" | "state" | "email_code";

/** `user`: the user was deleted or deactivated, or the tokens were revoked, since the code was issued. */
export type CodeRejection = "client" | "code" | "redirect_uri" | "verifier" | "used" | "user";

/**
 * An event of a request, in the log and a counter. The line of the request has its last event; each earlier one, such as the takeover
 * by a login, and `password.rehashed` have a line of their own.
 */
export interface AuditEntry extends AuditDetails {
  readonly event: AuditEvent;
  /** undefined if the user is unknown, the registration was rejected, or the event is `reset.requested` or `login_code.requested`. */
  readonly userId: number | undefined;
  /** undefined for a login with an unknown passkey: the request contains no e-mail. */
  readonly emailDigest: string | undefined;
  /** Only for `password.rehashed`: the format of the imported hash that was replaced. */
  readonly format?: string;
}

export interface AuditDetails {
  /** Only for `…rejected` of passkeys, identities, factors and codes of hosted login, and for `login.failed`. */
  readonly reason?:
    | PasskeyRejection
    | IdentityRejection
    | FactorRejection
    | CodeRejection
    | "no_password"
    | undefined;
  /** Only for `factor.rejected`: how many time steps the code is late, at most ten, or early (negative). A clock is then wrong. */
  readonly stepsLate?: number | undefined;
  /** Only for events of identities: the name of the provider. */
  readonly provider?: string | undefined;
  /** Only for events of hosted login: the `client_id`. */
  readonly client?: string | undefined;
  /** Only for `login.succeeded` and `login.inactive`: how the user logged in, as in the claim `amr`. */
  readonly amr?: readonly string[] | undefined;
}
