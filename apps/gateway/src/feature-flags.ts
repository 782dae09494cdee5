/** What the configuration can turn off. If one is off, its operations, errors and schemas do not exist. */
export type Feature =
  | "todos"
  | "mail"
  | "emailChange"
  | "closedRegistration"
  | "renewal"
  | "passkeys"
  | "identities"
  | "emailLogin"
  | "secondFactor"
  | "hostedLogin"
  | "verifiedEmail"
  | "administration"
  | "accountEvents"
  | "restrictedKeys";
export type Features = ReadonlySet<Feature>;
