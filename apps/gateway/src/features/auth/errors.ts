/** What the rules of accounts throw, beside what the database and the hasher do. */
import type { ErrorCode } from "@latchkey/contracts";

/** Unknown user or wrong password: which of the two is nobody's business. */
export class InvalidCredentials extends Error {
  override readonly name = "InvalidCredentials";
  readonly code = "INVALID_CREDENTIALS" satisfies ErrorCode;
}

/** No token, or one that is expired, wrongly signed or malformed. */
export class InvalidToken extends Error {
  override readonly name = "InvalidToken";
  readonly code = "INVALID_TOKEN" satisfies ErrorCode;
}

/** A valid token of a deactivated user. */
export class InactiveUser extends Error {
  override readonly name = "InactiveUser";
  readonly code = "INACTIVE_USER" satisfies ErrorCode;
}

/** A valid token whose user is gone. */
export class UserNotFound extends Error {
  override readonly name = "UserNotFound";
  readonly code = "USER_NOT_FOUND" satisfies ErrorCode;
}
