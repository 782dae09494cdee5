/** The operations on passkeys. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { OWNER_ERRORS } from "../../errors.ts";
import { issue, wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import { OWNER_LIMIT } from "../../rate-limit/limits.ts";
import type { PasskeyService } from "./service.ts";

const operation = userOperation({ tag: "Auth" });

export const passkeyOperations = (passkeyService: PasskeyService, login: Login) => [
  operation({
    id: "passkeyLoginOptions",
    method: "POST",
    path: "/auth/login/passkey/options",
    summary: "Begin a login with a passkey",
    description:
      "Returns the options for `navigator.credentials.get`, in JSON, and a state, which is valid for five minutes. They do not depend on the user.",
    success: { status: 200, description: "Options and state.", schema: contracts.PasskeyOptionsResponse },
    isStatic: true,
    handler: () => passkeyService.requestLogin(),
  }),
  operation({
    id: "passkeyLogin",
    method: "POST",
    path: "/auth/login/passkey",
    loginMethod: "passkey",
    isTwoFactor: true,
    summary: "Exchange the response of a passkey for an access token",
    description:
      "Every rejection has the same response. A state works once with a passkey. A passkey can log in eight times in five minutes, then gets 429.",
    body: contracts.PasskeyLoginRequest,
    issues: [wrongType("body", "response", "object")],
    limit: { quota: "passkeyLogin" },
    success: { status: 200, description: "An access token.", schema: contracts.Token },
    errors: ["PASSKEY_REJECTED"],
    handler: async ({ body }, request) =>
      contracts.toToken(await login(await passkeyService.verifyLogin(body, request), request)),
  }),
  operation({
    id: "listPasskeys",
    method: "GET",
    path: "/auth/passkeys",
    summary: "List the passkeys of the current user",
    description: "The oldest comes first.",
    requiresToken: true,
    success: { status: 200, description: "The passkeys.", schema: contracts.PasskeyListResponse },
    handler: async ({ principal }) => (await passkeyService.list(principal)).map(contracts.toPasskey),
  }),
  operation({
    id: "createPasskey",
    method: "POST",
    path: "/auth/passkeys",
    summary: "Create a passkey",
    description: "Stores the passkey that the browser has created. A user can have ten.",
    requiresToken: true,
    body: contracts.CreatePasskeyRequest,
    issues: [wrongType("body", "response", "object")],
    success: { status: 201, description: "The new passkey.", schema: contracts.Passkey },
    errors: ["PASSKEY_INVALID"],
    handler: async ({ principal, body }, request) =>
      contracts.toPasskey(await passkeyService.create(principal, body, request)),
  }),
  operation({
    id: "deletePasskey",
    method: "DELETE",
    path: "/auth/passkeys/:id",
    summary: "Remove a passkey of the current user",
    description:
      "Only if the configuration does not require `current_password` (`AUTH_REQUIRE_CURRENT_PASSWORD=false`); otherwise 403, and the operation whose path ends in `/removal` removes it. Tokens of earlier logins with it remain valid.",
    requiresToken: true,
    params: contracts.PasskeyPath,
    issues: [issue("path", "id", "must not contain U+0000 or lone surrogates", "string_pattern_mismatch")],
    success: { status: 204, description: "The passkey is removed." },
    errors: ["PASSKEY_NOT_FOUND", "LAST_LOGIN", "OWNER_PROOF_REQUIRED", "RECENT_LOGIN_REQUIRED"],
    handler: ({ principal, params }, request) => passkeyService.remove(principal, params.id, null, request),
  }),
  operation({
    id: "removePasskey",
    method: "POST",
    path: "/auth/passkeys/:id/removal",
    summary: "Remove a passkey of the current user",
    description: "Tokens of earlier logins with it remain valid.",
    requiresToken: true,
    params: contracts.PasskeyPath,
    body: contracts.RemovalRequest,
    limit: OWNER_LIMIT,
    issues: [wrongType("body", "current_password", "string")],
    success: { status: 204, description: "The passkey is removed." },
    errors: ["PASSKEY_NOT_FOUND", "LAST_LOGIN", ...OWNER_ERRORS],
    handler: ({ principal, params, body }, request) =>
      passkeyService.remove(principal, params.id, body, request),
  }),
  operation({
    id: "createPasskeyOptions",
    method: "POST",
    path: "/auth/passkeys/options",
    summary: "Begin to create a passkey",
    description:
      "Returns the options for `navigator.credentials.create`, in JSON, and a state, which is valid for five minutes and until the password, the tokens or the passkeys of the user change. If the service sends mail, the e-mail must be verified.",
    requiresToken: true,
    body: contracts.PasskeyOptionsRequest,
    issues: [wrongType("body", "current_password", "string")],
    limit: OWNER_LIMIT,
    success: { status: 200, description: "Options and state.", schema: contracts.PasskeyOptionsResponse },
    errors: [...OWNER_ERRORS, "EMAIL_NOT_VERIFIED"],
    handler: ({ principal, body }, request) =>
      passkeyService.requestCreation(principal, body.current_password, request),
  }),
];
