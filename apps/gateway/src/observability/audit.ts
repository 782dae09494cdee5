import type { AuditEvent } from "@latchkey/contracts";

/** A request has at most one, which its log line and a counter record, and can also replace an imported hash, which has a log line of its own. */
export interface AuditEntry {
  readonly event: AuditEvent;
  /** undefined: no user has the e-mail, or the registration was rejected. */
  readonly userId: number | undefined;
  readonly emailDigest: string;
  /** Of the imported hash that was replaced. */
  readonly format?: string;
}
