/** The operations of logins with a code from a mail. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { INVALID_EMAIL, wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import type { EmailLogin } from "./service.ts";

const operation = userOperation({ tag: "Auth" });

export const emailLoginOperations = (emailLogin: EmailLogin, login: Login) => [
  operation({
    id: "emailLoginOptions",
    method: "POST",
    path: "/auth/login/email/options",
    summary: "Request a code to log in",
    description:
      "Mails a code of eight digits, which is valid for ten minutes, if a user has this e-mail. The response does not depend on whether one has it.",
    body: contracts.EmailLoginOptionsRequest,
    issues: [INVALID_EMAIL],
    limit: { quota: "mail" },
    success: {
      status: 200,
      description: "The state of the code.",
      schema: contracts.EmailLoginOptionsResponse,
    },
    handler: ({ body }, request) => emailLogin.begin(body.email, request),
  }),
  operation({
    id: "emailLogin",
    method: "POST",
    path: "/auth/login/email",
    loginMethod: "code",
    summary: "Exchange a code from a mail for an access token",
    description:
      "A code works once, and ends all others of the user. A state allows five attempts. If the e-mail of the user was not verified, the login verifies it and, unless a second factor protects the user, ends the password, tokens, passkeys and identities, because somebody else can have registered the e-mail.",
    body: contracts.EmailLoginRequest,
    issues: [wrongType("body", "state", "string"), wrongType("body", "code", "string")],
    limit: { quota: "emailLogin" },
    success: { status: 200, description: "An access token.", schema: contracts.Token },
    errors: ["LOGIN_CODE_INVALID"],
    handler: async ({ body }, request) =>
      contracts.toToken(await login(await emailLogin.verifyLogin(body, request), request)),
  }),
];
