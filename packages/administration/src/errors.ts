/** `code` is that of the API's errors, and of the errors that the admin tool prints with `--json`. */
export class AdministrationError extends Error {
  override readonly name = "AdministrationError";
  constructor(
    readonly code:
      | "USER_NOT_FOUND"
      | "EMAIL_NOT_VERIFIED"
      | "INACTIVE_USER"
      | "EMAIL_NOT_MAILABLE"
      | "FACTOR_NOT_FOUND",
    message: string,
  ) {
    super(message);
  }
}
