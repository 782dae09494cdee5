/**
 * Prints the OpenAPI document of the service without starting the service: `bun run openapi > openapi.json`. With `--all`, the
 * document also describes the features that are off by default. With `--administration`, prints the document of the administration,
 * as it is while account events are recorded and with restricted keys.
 */
import { exitOnOutputError, write } from "@latchkey/cli";
import { PASSWORD_MIN_LENGTH, SHIPPED_LANGUAGES } from "@latchkey/contracts";
import type { AccountRules } from "./config.ts";
import { administrationOperations } from "./features/administration/operations.ts";
import { emailLoginOperations } from "./features/email-login/operations.ts";
import { eventOperations } from "./features/events/operations.ts";
import { hostedLoginOperations } from "./features/hosted-login/operations.ts";
import { identityOperations } from "./features/identities/operations.ts";
import { createOperations } from "./features/operations.ts";
import { passkeyOperations } from "./features/passkeys/operations.ts";
import { secondFactorOperations } from "./features/second-factor/operations.ts";
import { createAdministrationDocument } from "./openapi/administration-document.ts";
import { createPublicDocument } from "./openapi/public-document.ts";
import { enabledFeatures } from "./optional-features.ts";

/** The cast is safe because creating the document calls no service. */
const uncalled = <Service>(): Service => ({}) as Service;

/** Without a path, so that the document describes the metadata. */
const ISSUER = "https://accounts.example.com";

const isComplete = process.argv.includes("--all");
const rules: AccountRules = {
  sendsMail: true,
  acceptsRegistrations: !isComplete,
  hasRoles: isComplete,
  hasClaims: isComplete,
  languages: isComplete ? SHIPPED_LANGUAGES : ["en"],
  renewsTokens: isComplete,
  changesEmail: isComplete,
  hasPasskeys: isComplete,
  hasIdentities: isComplete,
  hasEmailLogin: isComplete,
  hasHostedLogin: isComplete,
  hasSecondFactor: isComplete,
  requireVerifiedEmail: isComplete,
  requireCurrentPassword: false,
  passwordMinLength: PASSWORD_MIN_LENGTH,
};
const features = enabledFeatures({ hasTodos: true, accounts: rules });
const operations = createOperations({
  readiness: uncalled(),
  register: uncalled(),
  verifyPasswordLogin: uncalled(),
  login: uncalled(),
  renew: uncalled(),
  accounts: uncalled(),
  links: uncalled(),
  optionalOperations: isComplete
    ? [
        ...passkeyOperations(uncalled(), uncalled()),
        ...identityOperations(uncalled(), uncalled()),
        ...emailLoginOperations(uncalled(), uncalled()),
        ...secondFactorOperations(uncalled(), uncalled(), rules),
        ...hostedLoginOperations(uncalled(), uncalled(), { issuer: ISSUER, hasSecondFactor: true }),
      ]
    : [],
  rules,
  isListedPassword: () => false,
  publicKeySet: { keys: [] },
  todoService: uncalled(),
});
const administration = [
  ...administrationOperations({
    service: uncalled(),
    passwordMinLength: PASSWORD_MIN_LENGTH,
    isListedPassword: () => false,
    sendsMail: true,
    // The typed client knows no configuration.
    languages: SHIPPED_LANGUAGES,
  }),
  ...eventOperations(uncalled()),
];
exitOnOutputError();
await write(
  process.argv.includes("--administration")
    ? await createAdministrationDocument(
        administration,
        new Set([...features, "accountEvents", "restrictedKeys"]),
      )
    : await createPublicDocument(operations, features),
);
