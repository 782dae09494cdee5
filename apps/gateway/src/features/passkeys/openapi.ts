/** The passkey operations: bodies, and descriptions in the OpenAPI document. */
import * as contracts from "@latchkey/contracts";
import { HASHING_ERRORS } from "../../errors.ts";
import { defineOperations } from "../../openapi/operation.ts";
import { ROUTE_LIMITS } from "../../rate-limit/limits.ts";

export const operations = defineOperations("Auth", {
  createPasskeyOptions: {
    summary: "Begin to create a passkey",
    description:
      "Returns the options for `navigator.credentials.create`, in JSON, and a state, which is valid for five minutes and until the password or the passkeys of the user change. If the service sends mail, the e-mail must be verified.",
    body: contracts.PasskeyOptionsRequest,
    success: { status: 200, description: "Options and state.", schema: "PasskeyOptionsResponse" },
    errors: ["CURRENT_PASSWORD_INCORRECT", "EMAIL_NOT_VERIFIED", ...HASHING_ERRORS],
    rateLimit: {
      ...ROUTE_LIMITS.passwordChange,
      description:
        "Counts against the limits of updates with a current password, by default {quota} per user and per client address.",
    },
    isProtected: true,
  },
  createPasskey: {
    summary: "Create a passkey",
    description: "Stores the passkey that the browser has created. A user can have ten.",
    body: contracts.CreatePasskeyRequest,
    success: { status: 201, description: "The new passkey.", schema: "PasskeyResponse" },
    errors: ["PASSKEY_INVALID"],
    isProtected: true,
  },
  listPasskeys: {
    summary: "List the passkeys of the current user",
    description: "The oldest comes first.",
    success: { status: 200, description: "The passkeys.", schema: "PasskeyListResponse" },
    isProtected: true,
  },
  deletePasskey: {
    summary: "Remove a passkey of the current user",
    description: "Tokens of earlier logins with it remain valid.",
    params: contracts.PasskeyPath,
    success: { status: 204, description: "The passkey is removed." },
    errors: ["PASSKEY_NOT_FOUND", "LAST_LOGIN"],
    isProtected: true,
  },
  passkeyLoginOptions: {
    summary: "Begin a login with a passkey",
    description:
      "Returns the options for `navigator.credentials.get`, in JSON, and a state, which is valid for five minutes. They do not depend on the user.",
    success: { status: 200, description: "Options and state.", schema: "PasskeyOptionsResponse" },
    isStatic: true,
  },
  passkeyLogin: {
    summary: "Exchange the response of a passkey for an access token",
    description:
      "Every rejection has the same response. A state works once. A passkey whose authenticator does not count can log in eight times in five minutes, then gets 429.",
    body: contracts.PasskeyLoginRequest,
    success: { status: 200, description: "An access token.", schema: "TokenResponse" },
    errors: ["PASSKEY_REJECTED", "INACTIVE_USER"],
    rateLimit: ROUTE_LIMITS.passkeyLogin,
  },
});
