/** The operations on users: registration, login and the current user. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { hasPassword } from "@latchkey/database";
import type Type from "typebox";
import type { AccountRules } from "../../config.ts";
import { HASHING_ERRORS, OWNER_ERRORS } from "../../errors.ts";
import type { Features } from "../../feature-flags.ts";
import { INVALID_EMAIL, LISTED_PASSWORD, shortPassword, wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import type { VerifyPasswordLogin } from "./password-login.ts";
import type { Register } from "./registration.ts";
import type { Renew } from "./renewal.ts";
import type { AccountService } from "./service.ts";

const operation = userOperation({ tag: "Auth" });

export interface NewCredentialsOptions {
  readonly rules: AccountRules;
  readonly features: Features;
  /** Whether the password is on the list of passwords that users cannot choose. */
  readonly isListedPassword: (password: string) => boolean;
}

/** The rules for new e-mails and passwords. Logins have no rules. */
export function newCredentials({ rules, isListedPassword }: NewCredentialsOptions) {
  const { passwordMinLength } = rules;
  return {
    withMinLength: <Body extends Type.TObject>(body: Body): Body =>
      contracts.withPasswordMinLength(body, passwordMinLength),
    passwordIssues: ({ password }: { readonly password?: string | undefined }) =>
      password !== undefined && isListedPassword(password) ? [LISTED_PASSWORD] : [],
    emailIssues: ({ email }: { readonly email: string }) =>
      contracts.isMailable(email) ? [] : [INVALID_EMAIL],
    tooShort: shortPassword(passwordMinLength),
  };
}

export interface AuthOperationsOptions extends NewCredentialsOptions {
  readonly register: Register;
  readonly verifyPasswordLogin: VerifyPasswordLogin;
  readonly login: Login;
  readonly renew: Renew;
  readonly accounts: AccountService;
}

export function authOperations(options: AuthOperationsOptions) {
  const { register, verifyPasswordLogin, login, renew, accounts, rules, features } = options;
  const { languages } = rules;
  const { withMinLength, passwordIssues, emailIssues, tooShort } = newCredentials(options);
  const unverified = rules.requireVerifiedEmail ? (["EMAIL_NOT_VERIFIED"] as const) : [];
  const removesLogins = features.has("passkeys") || features.has("identities");
  const updateBody = (requireCurrentPassword: boolean) =>
    withMinLength(
      contracts.updateUserRequest({ requireCurrentPassword, hasPasskeys: removesLogins, languages }),
    );
  const [User, toUser] = [contracts.userResponse(rules), contracts.userMapper(rules)];
  return [
    operation({
      id: "register",
      method: "POST",
      path: "/auth/register",
      summary: "Register a user",
      description:
        "The user is active and can log in at once, unless the service requires a verified e-mail. If the service sends mail, it also requests the mail that verifies the e-mail.",
      body: withMinLength(contracts.registerRequest(rules)),
      refineBody: (body) => [...emailIssues(body), ...passwordIssues(body)],
      issues: [INVALID_EMAIL, tooShort],
      limit: { quota: "register" },
      success: { status: 201, description: "The new user.", schema: User },
      errors: ["REGISTRATION_CLOSED", "USER_ALREADY_EXISTS", ...HASHING_ERRORS],
      handler: async ({ body }, request) => toUser(await register(body, request)),
    }),
    operation({
      id: "login",
      method: "POST",
      path: "/auth/login",
      loginMethod: "password",
      summary: "Exchange e-mail and password for an access token",
      description:
        "An unknown e-mail and a wrong password have the same response. Earlier tokens remain valid. An inactive user gets a token, but operations that require one return 403. If the service signs tokens with a key pair, an inactive user gets 403 instead of a token.",
      body: contracts.LoginRequest,
      issues: [INVALID_EMAIL],
      limit: { quota: "login" },
      success: { status: 200, description: "An access token.", schema: contracts.Token },
      errors: ["INVALID_CREDENTIALS", ...HASHING_ERRORS],
      handler: async ({ body }, request) =>
        contracts.toToken(await login(await verifyPasswordLogin(body, request), request)),
    }),
    operation({
      id: "getMe",
      method: "GET",
      path: "/auth/me",
      summary: "Read the current user",
      description: "Reads the user from the database, so it includes all changes since the token was issued.",
      requiresToken: true,
      success: { status: 200, description: "The current user.", schema: User },
      handler: ({ principal }) => toUser(principal.user),
    }),
    operation({
      id: "renewToken",
      method: "POST",
      path: "/auth/tokens",
      feature: "renewal",
      summary: "Exchange a token for a new one of the same login",
      description:
        "The token in the request remains valid until it expires. No token of a login is valid later than the configured number of days after it. The token that made the latest password change cannot be renewed.",
      requiresToken: true,
      success: { status: 200, description: "An access token.", schema: contracts.Token },
      acceptsIdleToken: true,
      errors: ["LOGIN_REQUIRED", ...unverified],
      handler: async ({ principal }) => contracts.toToken(await renew(principal)),
    }),
    operation({
      id: "updateMe",
      method: "PATCH",
      path: "/auth/me",
      summary: "Change the username, the password or both",
      description:
        "An empty object changes nothing. `current_password` is verified if it is present, also alone; the service can be configured to require it with a new password. A password change revokes all tokens of the user except the one in this request, which remains valid until it expires, another token changes the password, or all tokens are revoked. Returns 401 if another request revokes the token before this one ends; with a password or a current password, also if another request changes the password. A password change makes the networks of the user unfamiliar, except that of a request with the current password. A user can change the username ten times a minute.",
      requiresToken: true,
      body: updateBody(rules.requireCurrentPassword),
      // They prove a recent login.
      exception: { body: updateBody(false), applies: ({ user }) => !hasPassword(user) },
      refineBody: passwordIssues,
      issues: [tooShort, ...(removesLogins ? [wrongType("body", "remove_passkeys", "boolean")] : [])],
      limit: {
        quota: "passwordChange",
        per: "user",
        applies: ({ password, current_password }) => password !== undefined || current_password !== undefined,
      },
      success: { status: 200, description: "The updated user.", schema: User },
      errors: [...OWNER_ERRORS, "USER_ALREADY_EXISTS"],
      handler: async ({ principal, body }, request) =>
        toUser(await accounts.update(principal, body, request)),
    }),
    operation({
      id: "deleteMe",
      method: "DELETE",
      path: "/auth/me",
      summary: "Delete the current user",
      description:
        "Cannot be undone. The tokens of the user stop working immediately, and e-mail and username can be registered again.",
      requiresToken: true,
      errors: features.has("secondFactor") ? ["RECENT_LOGIN_REQUIRED"] : [],
      success: { status: 204, description: "The user is deleted." },
      handler: ({ principal }, request) => accounts.delete(principal, request),
    }),
    operation({
      id: "revokeTokens",
      method: "DELETE",
      path: "/auth/tokens",
      summary: "Revoke all tokens of the current user",
      description: "Revokes every token, including the one in this request.",
      requiresToken: true,
      success: { status: 204, description: "The tokens are revoked." },
      handler: ({ principal }, request) => accounts.revokeTokens(principal, request),
    }),
  ];
}
