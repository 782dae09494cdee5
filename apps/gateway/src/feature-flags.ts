/** What the configuration can turn off. If one is off, its operations, errors and schemas do not exist. */
import type { Config } from "./config.ts";

export type Feature =
  | keyof Config["features"]
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
