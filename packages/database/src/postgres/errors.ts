/** Converts the errors of Bun's PostgreSQL client to domain errors. */
import { SQL } from "bun";
import { DrizzleQueryError } from "drizzle-orm";
import { DatabaseUnavailable, UserAlreadyExists } from "../errors.ts";

/** The reason of the error if the server does not respond within the deadline. */
export const DEADLINE_REASON = "DEADLINE";

/** The client's error code for a connection that was closed before or during a query. */
export const CLOSED_REASON = "ERR_POSTGRES_CONNECTION_CLOSED";

/** `admin_shutdown`, `crash_shutdown`, `idle_session_timeout`, and the client's code for a closed connection. */
const LOST_CONNECTION_REASONS = ["57P01", "57P02", "57P05", CLOSED_REASON];

/** The SQLSTATE `lock_not_available`. */
const LOCK_TIMEOUT_REASON = "55P03";

/** The SQLSTATE `read_only_sql_transaction`. */
const READ_ONLY_REASON = "25006";

/**
 * The SQLSTATEs `duplicate_prepared_statement` and `invalid_sql_statement_name`: the server has another client's statement of
 * the same name, or no statement of that name.
 */
const LOST_STATEMENT_REASONS = ["42P05", "26000"];
const LOST_STATEMENT = "the connection pooler does not support prepared statements and mixed them up";

/** Errors that an operator can resolve, by SQLSTATE (PostgreSQL documentation, appendix A) or the client's own code. */
const EXPLANATIONS: Readonly<Record<string, string>> = {
  [READ_ONLY_REASON]: "the server accepts no writes",
  // `protocol_violation`: every error of PgBouncer has this code. PostgreSQL returns this code if statements were mixed up and
  // the client therefore sends the wrong number of parameters.
  "08P01":
    "a connection pooler reported an error, or mixed up prepared statements; see its log. PgBouncer must have statement_timeout in ignore_startup_parameters",
  "23505":
    "a value is already used; if it is an id, the sequences of the tables are behind, as after logical replication: stop the service and run raise-ids, after a move that lost nothing with --keep-tokens",
  "26000": LOST_STATEMENT,
  "28000": "the server rejected the user",
  "28P01": "the server rejected the user or the password",
  "3D000": "the server has no database of this name",
  "3F000": "the schema public does not exist, or the user lacks a privilege on it",
  "40001":
    "the isolation level is stricter than read committed; set default_transaction_isolation for the role",
  "42501": "the user lacks a privilege on the tables or the schema",
  "42704": "the server does not know a parameter or an object; see options in DATABASE_URL",
  "42P05": LOST_STATEMENT,
  "53100": "the server's disk is full",
  "53300": "the server has no free connections",
  [LOCK_TIMEOUT_REASON]: "another transaction holds a lock on the table",
  "57014": "a query took too long",
  "57P01": "the server is shutting down, or an administrator terminated the connection",
  "57P02": "the server is restarting after a crash",
  "57P03": "the server is starting or shutting down, or is a standby that accepts no connections",
  "57P05": "the server closed an idle connection; set idle_session_timeout to 0 for the role",
  [DEADLINE_REASON]: "the server did not respond in time",
  [CLOSED_REASON]: "the connection was closed",
  ERR_POSTGRES_CONNECTION_FAILED: "the connection could not be established; check the host and the network",
  ERR_POSTGRES_CONNECTION_REFUSED: "nothing accepts connections at this host and port",
  ERR_POSTGRES_CONNECTION_TIMEOUT: "the server did not accept a connection in time",
  ERR_POSTGRES_TLS_NOT_AVAILABLE: "the URL requires TLS, and the server does not offer it",
};

/** Codes of TLS errors (Node.js, "X509 certificate error codes"). `ERR_BORINGSSL`: a certificate file cannot be parsed. */
const TLS_ERROR =
  /^(UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|INVALID_|ERR_TLS_CERT_|ERR_BORINGSSL$)/;

/** The unique constraints on e-mail and username. A duplicate id is not a `UserAlreadyExists`. */
const USER_CONSTRAINTS = new Set(["users_email_unique", "users_username_unique"]);

export function unavailable(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(reason, EXPLANATIONS[reason]);
}

const hasReason =
  (...reasons: readonly string[]) =>
  (error: unknown): boolean =>
    error instanceof DatabaseUnavailable && reasons.includes(error.reason);

export const isDeadline = hasReason(DEADLINE_REASON);
/** Whether the connection was lost before or during a query, so it is unknown whether the query was executed. */
export const isLostConnection = hasReason(...LOST_CONNECTION_REASONS);
/** Whether the server rejects all writes, as a standby does. */
export const isReadOnly = hasReason(READ_ONLY_REASON);
/** Whether a statement waited for a lock longer than `lock_timeout`. */
export const isLockTimeout = hasReason(LOCK_TIMEOUT_REASON);
/** Whether the server lost the statement that this connection prepared, or has another client's statement of the same name. */
export const isLostStatement = hasReason(...LOST_STATEMENT_REASONS);

/** Returns the domain error for a failed query. Any error that the client did not throw is a bug and is returned unchanged. */
export function toDomainError(error: unknown): unknown {
  // The message of Drizzle's wrapper contains SQL and parameters.
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof SQL.PostgresError)) return convertCertificateError(cause);
  const isTaken = cause.errno === "23505" && USER_CONSTRAINTS.has(cause.constraint ?? "");
  return isTaken ? new UserAlreadyExists() : unavailable(cause.errno ?? cause.code);
}

/** The client throws the errors of its TLS library unchanged, not as a `PostgresError`. Their messages contain no secret. */
function convertCertificateError(error: unknown): unknown {
  if (!(error instanceof Error && "code" in error) || !TLS_ERROR.test(String(error.code))) return error;
  return new DatabaseUnavailable(String(error.code), `TLS: ${error.message}`);
}
