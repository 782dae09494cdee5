/** How the features that log users in share the last step: the conditions of every login, the event, and the token. */
import type { User } from "@latchkey/database";
import type { ErrorCode } from "./errors.ts";
import type { AuditEvent } from "./observability/audit.ts";
import type { RequestContext } from "./request-context.ts";
import type { AuthenticationMethods } from "./tokens/access-tokens.ts";

/** How a login was completed. */
export interface LoginCompletion {
  /** The methods of the claim `amr`. @default none, as for identities: RFC 8176 has no value for them */
  readonly amr?: AuthenticationMethods;
  /** Replaces `login.succeeded` if the login also changed the user. */
  readonly event?: AuditEvent | undefined;
  /** The name of the OpenID Connect provider. */
  readonly provider?: string;
  /** The error if the user was deleted, or got another e-mail, after the login was verified. */
  readonly rejection: ErrorCode;
}

/**
 * Returns an access token for a user who was authenticated at this `tokenVersion`.
 * @throws the rejection, EMAIL_NOT_VERIFIED if the configuration requires it, or INACTIVE_USER if other services verify tokens
 */
export type CompleteLogin = (
  user: Pick<User, "id" | "email" | "tokenVersion">,
  completion: LoginCompletion,
  request: RequestContext,
) => Promise<string>;
