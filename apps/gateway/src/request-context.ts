/** What a service needs from a request, without HTTP. */
import type { AuthenticatedUser } from "@latchkey/database";
import type { AuditDetails, AuditEvent } from "./observability/audit.ts";
import type { QuotaName } from "./rate-limit/limits.ts";

/** The data that an operation needs from its request, and functions that add to the response and to the log line. */
export interface RequestContext {
  readonly signal: AbortSignal;
  /** The client's IPv4 address or IPv6 /64. */
  readonly network: string;
  /** `status` replaces the status of a success. */
  readonly response: { status?: number | string; readonly headers: Record<string, string | number> };
  /** Adds an event. The line of the request has the last one. */
  audit(event: AuditEvent, email: string | null, userId?: number, details?: AuditDetails): void;
  /** Logs that the imported hash of a user was replaced. */
  rehashed(format: string, user: AuthenticatedUser): void;
  /** Adds an error to the log line. The error does not change the response. */
  warn(error: unknown): void;
  /** Counts the request against a further quota, per client address. @throws TOO_MANY_REQUESTS */
  countAgainst(quota: QuotaName): Promise<void>;
}
