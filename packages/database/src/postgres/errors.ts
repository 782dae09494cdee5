/** Turns what Bun's PostgreSQL client throws into domain errors. */

import { SQL } from "bun";
import { DrizzleQueryError } from "drizzle-orm";
import { DatabaseUnavailable, UserAlreadyExists } from "../errors.ts";

/** The reason given when the server did not answer within the deadline, nor refuse. */
export const deadlineReason = "DEADLINE";

/** The SQLSTATE `read_only_sql_transaction`. */
const readOnlyReason = "25006";

/** What an operator can do something about, by SQLSTATE (PostgreSQL, appendix A) or by the client's own code. */
const explanations: Readonly<Record<string, string>> = {
  [readOnlyReason]: "the server accepts no writes",
  "28000": "the server refused the user",
  "28P01": "the server refused the user or the password",
  "3D000": "the server has no database of that name",
  "42501": "the user lacks a privilege on the tables or the schema",
  "53100": "the server's disk is full",
  "53300": "the server has no connection left",
  "57014": "a query took too long",
  [deadlineReason]: "the server did not answer in time",
  ERR_POSTGRES_CONNECTION_CLOSED: "the connection was closed",
  ERR_POSTGRES_CONNECTION_FAILED: "no connection came about; are the host and the network right?",
  ERR_POSTGRES_CONNECTION_REFUSED: "nothing accepts connections at that host and port",
  ERR_POSTGRES_CONNECTION_TIMEOUT: "the server did not accept a connection in time",
  ERR_POSTGRES_TLS_NOT_AVAILABLE: "the URL requires TLS, and the server does not offer it",
};

/** Codes of TLS errors (Node.js, "X509 certificate error codes"; ERR_BORINGSSL: a certificate file cannot be parsed). */
const TLS_ERROR =
  /^(UNABLE_TO_|CERT_|CRL_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|INVALID_|ERR_TLS_CERT_|ERR_BORINGSSL$)/;

/** The constraints of `users` that stand for a rule of the service; a clash of ids is none. */
const identityConstraints = new Set(["users_email_unique", "users_username_unique"]);

export function unavailable(reason: string): DatabaseUnavailable {
  return new DatabaseUnavailable(reason, explanations[reason]);
}

/** Whether the server refused to write at all, as a standby does. */
export function isReadOnly(failure: unknown): boolean {
  return failure instanceof DatabaseUnavailable && failure.reason === readOnlyReason;
}

/** The domain error for a failed query; what the client did not throw is a mistake of ours and stays what it is. */
export function domainError(error: unknown): unknown {
  // Drizzle's wrapper prints SQL and parameters, so it is taken off before anyone can log it.
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof SQL.PostgresError)) return certificateError(cause) ?? cause;
  const isTaken = cause.errno === "23505" && identityConstraints.has(cause.constraint ?? "");
  return isTaken ? new UserAlreadyExists() : unavailable(cause.errno ?? cause.code);
}

/** The client throws the errors of its TLS library as they are; their messages contain no secret. */
function certificateError(error: unknown): DatabaseUnavailable | null {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (!(error instanceof Error) || !TLS_ERROR.test(code)) return null;
  return new DatabaseUnavailable(code, `TLS: ${error.message}`);
}
