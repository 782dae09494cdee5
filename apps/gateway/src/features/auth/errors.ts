/** The errors of the auth service, in addition to those of the database and the hasher. */
import type { ErrorCode } from "@latchkey/contracts";

/** Unknown e-mail or wrong password; the two cases are deliberately not distinguished. */
export class InvalidCredentials extends Error {
  override readonly name = "InvalidCredentials";
  readonly code = "INVALID_CREDENTIALS" satisfies ErrorCode;
}

/** The token is missing, expired, revoked, wrongly signed or malformed. */
export class InvalidToken extends Error {
  override readonly name = "InvalidToken";
  readonly code = "INVALID_TOKEN" satisfies ErrorCode;
}

/** The token is valid, but its user is deactivated. */
export class InactiveUser extends Error {
  override readonly name = "InactiveUser";
  readonly code = "INACTIVE_USER" satisfies ErrorCode;
}

/** The value of `current_password` is not the user's password. */
export class CurrentPasswordIncorrect extends Error {
  override readonly name = "CurrentPasswordIncorrect";
  readonly code = "CURRENT_PASSWORD_INCORRECT" satisfies ErrorCode;
}

/** The token is valid, but its user no longer exists. */
export class UserNotFound extends Error {
  override readonly name = "UserNotFound";
  readonly code = "USER_NOT_FOUND" satisfies ErrorCode;
}

/** Only logged: the next login from this network can be throttled. */
export class NetworkNotStored extends Error {
  override readonly name = "NetworkNotStored";
  constructor(cause: unknown) {
    super("The network of the client was not stored", { cause });
  }
}
