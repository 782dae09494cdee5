/** The features that the configuration can turn off. If one is off, its operations, errors and schemas do not exist. */
import type { Config } from "./config.ts";

export type Feature =
  | "todos"
  | "mail"
  | "emailChange"
  | "renewal"
  | "passkeys"
  | "identities"
  | "emailLogin"
  | "verifiedEmail"
  | "administration";
export type Features = ReadonlySet<Feature>;

export function enabledFeatures({ hasTodos, mail, auth }: Config): Features {
  const features: readonly (readonly [Feature, boolean])[] = [
    ["todos", hasTodos],
    ["mail", mail !== null],
    ["emailChange", auth.changesEmail],
    ["renewal", auth.renewalDays > 0],
    ["passkeys", auth.hasPasskeys],
    ["identities", auth.hasIdentities],
    ["emailLogin", auth.hasEmailLogin],
    ["verifiedEmail", auth.requireVerifiedEmail],
  ];
  return new Set(features.flatMap(([feature, isOn]) => (isOn ? [feature] : [])));
}
