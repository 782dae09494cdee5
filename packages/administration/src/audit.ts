/** The log lines of an operator's changes. The admin tool and the service write the same members with the same event names. */

/** Who makes a change, and why. */
export interface Operator {
  /** `cli:USER` or `admin:NAME`. */
  readonly actor: string;
  readonly reason?: string | undefined;
  /** The request that makes the change. undefined: the admin tool makes it. */
  readonly request_id?: string | undefined;
}

export interface AuditLine extends Operator {
  readonly event: string;
  readonly user_id: number;
  /** Only if the change concerns roles. */
  readonly roles?: readonly string[] | undefined;
  readonly previous_roles?: readonly string[] | undefined;
  /** The names of the changed claims: their values can be personal data. */
  readonly claims?: readonly string[] | undefined;
}

/** Writes the line of a change that was made. */
export type Audit = (line: AuditLine) => void;
