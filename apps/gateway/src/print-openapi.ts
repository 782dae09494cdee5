/**
 * Prints the OpenAPI document that the service returns, without starting it: `bun run openapi > openapi.json`. With `--all`, it
 * also describes the features that are off by default.
 */
import { exitOnOutputError, write } from "@latchkey/cli";
import { PASSWORD_MIN_LENGTH } from "@latchkey/contracts";
import { createFeatures } from "./features/routes.ts";
import { createDocument } from "./openapi/document.ts";

/** The cast is safe because describing the routes calls none of their services. */
const uncalled = <Service>(): Service => ({}) as Service;

const isComplete = process.argv.includes("--all");
const features = createFeatures({
  readiness: uncalled(),
  authService: uncalled(),
  sendsMail: true,
  renewsTokens: isComplete,
  hasRoles: isComplete,
  passkeyService: isComplete ? uncalled() : null,
  changesEmail: isComplete,
  limiters: null,
  digests: uncalled(),
  requireCurrentPassword: false,
  passwordRules: { minLength: PASSWORD_MIN_LENGTH, isListed: uncalled() },
  todoService: uncalled(),
  publicKeySet: uncalled(),
});
exitOnOutputError();
await write(await createDocument(features, { hasRoles: isComplete, passwordMinLength: PASSWORD_MIN_LENGTH }));
