/**
 * Prints the OpenAPI document of the service without starting the service: `bun run openapi > openapi.json`. With `--all`, the
 * document also describes the features that are off by default.
 */
import { exitOnOutputError, write } from "@latchkey/cli";
import { PASSWORD_MIN_LENGTH } from "@latchkey/contracts";
import type { AccountRules } from "./config.ts";
import { passkeyRoutes } from "./features/passkeys/routes.ts";
import { createFeatures, type FeatureOptions } from "./features/routes.ts";
import { createDocument } from "./openapi/document.ts";

/** The cast is safe because creating the document calls no service. */
const uncalled = <Service>(): Service => ({}) as Service;

const isComplete = process.argv.includes("--all");
const rules: AccountRules = {
  claims: isComplete ? ["roles"] : [],
  renewalDays: isComplete ? 1 : 0,
  changesEmail: isComplete,
  hasPasskeys: isComplete,
  requireCurrentPassword: false,
  passwordMinLength: PASSWORD_MIN_LENGTH,
};
const features = createFeatures({
  ...uncalled<FeatureOptions>(),
  authService: uncalled(),
  todoService: uncalled(),
  sendsMail: true,
  rules,
  passkeys: isComplete ? { routes: passkeyRoutes, service: uncalled() } : null,
  limiters: null,
});
exitOnOutputError();
await write(await createDocument(features, rules));
