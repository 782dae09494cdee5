/**
 * What the configuration can turn off, if other modules than its own ask for it. If one is off, its operations, errors and schemas do not
 * exist.
 */
export type Feature =
  | "passkeys"
  | "identities"
  | "emailLogin"
  | "secondFactor"
  | "hostedLogin"
  /** Any way to log in besides the password. */
  | "otherLogins"
  | "todos"
  | "mail"
  | "emailChange"
  | "closedRegistration"
  | "renewal"
  | "verifiedEmail"
  | "administration"
  | "accountEvents"
  | "restrictedKeys";
export type Features = ReadonlySet<Feature>;
