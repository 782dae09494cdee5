/** The features that are off by default, in the order of the OpenAPI document, and which features are on. */
import { SHIPPED_LANGUAGES } from "@latchkey/contracts";
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

/** The ways to log in, as the metrics name them. */
export const LOGIN_METHODS: readonly string[] = [
  "password",
  ...OPTIONAL_FEATURES.flatMap(({ loginMethod }) => loginMethod ?? []),
];

/** The variables that turn on everything that the OpenAPI document can describe. */
export const EVERYTHING: OptionalFeature["example"] = {
  LANGUAGES: SHIPPED_LANGUAGES.join(),
  AUTH_CLAIMS: "roles,claims",
  AUTH_RENEWAL_DAYS: "30",
  AUTH_EMAIL_CHANGE: "true",
  AUTH_REGISTRATION: "closed",
  AUTH_REQUIRE_VERIFIED_EMAIL: "true",
  AUTH_REQUIRE_CURRENT_PASSWORD: "false",
  ...Object.fromEntries(OPTIONAL_FEATURES.flatMap(({ example }) => Object.entries(example))),
};

export function enabledFeatures(config: Config): Features {
  const { hasTodos, accounts, variables } = config;
  const optional = OPTIONAL_FEATURES.filter(({ isOn }) => isOn(variables));
  const features: readonly (readonly [string, boolean])[] = [
    ["todos", hasTodos],
    ["mail", accounts.sendsMail],
    ["emailChange", accounts.changesEmail],
    ["closedRegistration", !accounts.acceptsRegistrations],
    ["renewal", accounts.renewsTokens],
    ["verifiedEmail", accounts.requireVerifiedEmail],
    ...optional.map(({ name }) => [name, true] as const),
    ["otherLogins", optional.some(({ loginMethod }) => loginMethod !== undefined)],
  ];
  // The cast is safe because nothing reads the names that are not of `Feature`.
  return new Set(features.flatMap(([feature, isOn]) => (isOn ? [feature as Feature] : [])));
}
