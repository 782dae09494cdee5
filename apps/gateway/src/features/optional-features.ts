/** The features that are off by default, in the order of the OpenAPI document, and which features are on. */
import type { Config } from "../config.ts";
import type { Feature, Features } from "../feature-flags.ts";
import { emailLoginFeature } from "./email-login/feature.ts";
import { hostedLoginFeature } from "./hosted-login/feature.ts";
import { identityFeature } from "./identities/feature.ts";
import type { OptionalFeature } from "./optional-feature.ts";
import { passkeyFeature } from "./passkeys/feature.ts";
import { secondFactorFeature } from "./second-factor/feature.ts";

export const OPTIONAL_FEATURES: readonly OptionalFeature[] = [
  passkeyFeature,
  identityFeature,
  emailLoginFeature,
  secondFactorFeature,
  hostedLoginFeature,
];

export function enabledFeatures(config: Config): Features {
  const { hasTodos, accounts } = config;
  const features: readonly (readonly [Feature, boolean])[] = [
    ["todos", hasTodos],
    ["mail", accounts.sendsMail],
    ["emailChange", accounts.changesEmail],
    ["closedRegistration", !accounts.acceptsRegistrations],
    ["renewal", accounts.renewsTokens],
    ["verifiedEmail", accounts.requireVerifiedEmail],
    ...OPTIONAL_FEATURES.map(({ name, isOn }) => [name, isOn(config)] as const),
  ];
  return new Set(features.flatMap(([feature, isOn]) => (isOn ? [feature] : [])));
}
