/** The features that the configuration can turn off. If one is off, its operations, errors and schemas do not exist. */
import type { Config } from "./config.ts";

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

export function enabledFeatures({ hasTodos, accounts }: Pick<Config, "hasTodos" | "accounts">): Features {
  const features: readonly (readonly [Feature, boolean])[] = [
    ["todos", hasTodos],
    ["mail", accounts.sendsMail],
    ["emailChange", accounts.changesEmail],
    ["closedRegistration", !accounts.acceptsRegistrations],
    ["renewal", accounts.renewsTokens],
    ["passkeys", accounts.hasPasskeys],
    ["identities", accounts.hasIdentities],
    ["emailLogin", accounts.hasEmailLogin],
    ["secondFactor", accounts.hasSecondFactor],
    ["hostedLogin", accounts.hasHostedLogin],
    ["verifiedEmail", accounts.requireVerifiedEmail],
  ];
  return new Set(features.flatMap(([feature, isOn]) => (isOn ? [feature] : [])));
}
