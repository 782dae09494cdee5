/** The operations on second factors. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { FACTOR_ERRORS, OWNER_ERRORS } from "../../errors.ts";
import { wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import { OWNER_LIMIT } from "../../rate-limit/limits.ts";
import type { SecondFactorService } from "./service.ts";

const operation = userOperation({ tag: "Auth" });
const issues = [wrongType("body", "code", "string")];

export const secondFactorOperations = (
  secondFactor: SecondFactorService,
  login: Login,
  { sendsMail }: { readonly sendsMail: boolean },
) => [
  operation({
    id: "factorLogin",
    method: "POST",
    path: "/auth/login/factor",
    loginMethod: "factor",
    isTwoFactor: true,
    summary: "Complete a login with a code of the second factor",
    description:
      "Every way to log in returns 403 `SECOND_FACTOR_REQUIRED` with a `state` if the user has a second factor; a passkey is two factors by itself. The state can be used again with another code until it expires. A code works once, and no earlier one after it. A recovery code replaces a code once.",
    body: contracts.FactorLoginRequest,
    issues,
    limit: { quota: "factorLogin" },
    success: { status: 200, description: "An access token.", schema: contracts.Token },
    errors: ["LOGIN_REQUIRED", "FACTOR_CODE_REJECTED", "FACTOR_LOCKED"],
    handler: async ({ body }, request) =>
      contracts.toToken(await login(await secondFactor.verifyLogin(body, request), request)),
  }),
  operation({
    id: "getFactor",
    method: "GET",
    path: "/auth/factor",
    summary: "Read the second factor of the current user",
    description: "Neither the secret nor the recovery codes are ever returned again.",
    requiresToken: true,
    success: { status: 200, description: "The second factor.", schema: contracts.FactorResponse },
    errors: ["FACTOR_NOT_FOUND"],
    handler: async ({ principal }) => {
      const { createdAt, lastUsedAt, recoveryCodesLeft } = await secondFactor.read(principal);
      return { created_at: createdAt, last_used_at: lastUsedAt, recovery_codes_left: recoveryCodesLeft };
    },
  }),
  operation({
    id: "createFactorOptions",
    method: "POST",
    path: "/auth/factor/options",
    summary: "Begin to set up a second factor",
    description:
      "Returns a secret for an application that shows codes, and a state, which is valid for ten minutes and until the password, the tokens or the second factor of the user change. The factor is not stored yet. If the service sends mail, the e-mail must be verified, and gets a code. A user who has a second factor replaces it, and also sends a code of it.",
    requiresToken: true,
    body: contracts.FactorOptionsRequest,
    issues: [wrongType("body", "current_password", "string")],
    limit: OWNER_LIMIT,
    success: { status: 200, description: "Secret and state.", schema: contracts.FactorOptionsResponse },
    errors: [...OWNER_ERRORS, ...FACTOR_ERRORS, "EMAIL_NOT_VERIFIED"],
    handler: ({ principal, body }, request) => secondFactor.requestCreation(principal, body, request),
  }),
  operation({
    id: "createFactor",
    method: "POST",
    path: "/auth/factor",
    summary: "Set up the second factor",
    description:
      "From now on, every login of the user needs a code, except with a passkey. All tokens of the user end; the response has a new one and the recovery codes. The mailed code has five attempts.",
    requiresToken: true,
    body: contracts.CreateFactorRequest,
    refineBody: ({ email_code }) =>
      sendsMail && email_code === undefined
        ? [{ loc: ["body", "email_code"], msg: "is required", type: "missing" }]
        : [],
    issues,
    success: {
      status: 201,
      description: "The recovery codes and a token.",
      schema: contracts.CreateFactorResponse,
    },
    errors: ["FACTOR_CODE_INVALID"],
    handler: async ({ principal, body }, request) => {
      const { recoveryCodes, token } = await secondFactor.create(principal, body, request);
      return { recovery_codes: recoveryCodes, ...contracts.toToken(token) };
    },
  }),
  operation({
    id: "createRecoveryCodes",
    method: "POST",
    path: "/auth/factor/recovery-codes",
    summary: "Make new recovery codes",
    description: "The earlier ones end.",
    requiresToken: true,
    body: contracts.FactorProofRequest,
    issues,
    limit: OWNER_LIMIT,
    success: { status: 200, description: "The codes.", schema: contracts.RecoveryCodesResponse },
    errors: [...OWNER_ERRORS, ...FACTOR_ERRORS, "FACTOR_NOT_FOUND"],
    handler: async ({ principal, body }, request) => ({
      recovery_codes: await secondFactor.replaceRecoveryCodes(principal, body, request),
    }),
  }),
  operation({
    id: "removeFactor",
    method: "POST",
    path: "/auth/factor/removal",
    summary: "Remove the second factor",
    description: "Ends all tokens of the user, including the one in this request.",
    requiresToken: true,
    body: contracts.FactorProofRequest,
    issues,
    limit: OWNER_LIMIT,
    success: { status: 204, description: "The second factor is removed." },
    errors: [...OWNER_ERRORS, ...FACTOR_ERRORS, "FACTOR_NOT_FOUND"],
    handler: ({ principal, body }, request) => secondFactor.remove(principal, body, request),
  }),
];
