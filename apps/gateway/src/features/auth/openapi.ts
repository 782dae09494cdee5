/** The auth operations: bodies, and descriptions in the OpenAPI document. */
import * as contracts from "@latchkey/contracts";
import type Type from "typebox";
import type { AccountRules } from "../../config.ts";
import { HASHING_ERRORS } from "../../errors.ts";
import { defineOperations, type OperationOptions } from "../../openapi/operation.ts";
import { nameOf } from "../../openapi/schemas.ts";
import {
  describeRefill,
  EMAIL_CHANGE_REQUESTS,
  inWords,
  MAIL_BUDGETS,
  ROUTE_LIMITS,
} from "../../rate-limit/limits.ts";

const OPERATIONS = {
  register: {
    summary: "Register a user",
    description:
      "The user is active and can log in at once. If the service sends mail, it also requests the mail that verifies the e-mail.",
    body: contracts.RegisterRequest,
    success: { status: 201, description: "The new user.", schema: "UserResponse" },
    errors: ["USER_ALREADY_EXISTS", ...HASHING_ERRORS],
    rateLimit: ROUTE_LIMITS.register,
  },
  login: {
    summary: "Exchange e-mail and password for an access token",
    description:
      "An unknown e-mail and a wrong password have the same response. Earlier tokens remain valid. An inactive user gets a token, but operations that require one return 403. If the service publishes the keys of tokens, an inactive user gets 403 instead of a token.",
    body: contracts.LoginRequest,
    success: { status: 200, description: "An access token.", schema: "TokenResponse" },
    errors: ["INVALID_CREDENTIALS", "INACTIVE_USER", ...HASHING_ERRORS],
    rateLimit: ROUTE_LIMITS.login,
  },
  getMe: {
    summary: "Read the current user",
    description: "Reads the user from the database, so it includes all changes since the token was issued.",
    success: { status: 200, description: "The current user.", schema: "UserResponse" },
    isProtected: true,
  },
  updateMe: {
    summary: "Change the username, the password or both",
    description:
      "An empty object changes nothing. `current_password` is verified if it is present, also alone; the service can be configured to require it with a new password. A password change revokes all tokens of the user except the one in this request, which remains valid until it expires or the next password change with another token. Returns 401 if another request revokes the token before this one ends; with a password or a current password, also if another request changes the password. A password change makes the networks of the user unfamiliar, except that of a request with the current password.",
    body: contracts.UpdateUserRequest,
    success: { status: 200, description: "The updated user.", schema: "UserResponse" },
    errors: ["CURRENT_PASSWORD_INCORRECT", "USER_ALREADY_EXISTS", ...HASHING_ERRORS],
    rateLimit: ROUTE_LIMITS.passwordChange,
    isProtected: true,
  },
  deleteMe: {
    summary: "Delete the current user",
    description:
      "Cannot be undone. The tokens of the user stop working immediately, and e-mail and username can be registered again.",
    success: { status: 204, description: "The user is deleted." },
    isProtected: true,
  },
  revokeTokens: {
    summary: "Revoke all tokens of the current user",
    description: "Revokes every token, including the one in this request.",
    success: { status: 204, description: "The tokens are revoked." },
    isProtected: true,
  },
  renewToken: {
    summary: "Exchange a token for a new one of the same login",
    description:
      "The token in the request remains valid until it expires. No token of a login is valid later than the configured number of days after it. The token that made the latest password change cannot be renewed.",
    success: { status: 200, description: "An access token.", schema: "TokenResponse" },
    errors: ["LOGIN_REQUIRED"],
    isProtected: true,
  },
  requestPasswordReset: {
    summary: "Request a mail that resets a password",
    description: `Returns the same response for every valid e-mail, registered or not. The link in the mail is valid for ${contracts.MAILS.reset.lifetime} and works once. Each recipient gets ${describeRefill(MAIL_BUDGETS.resets, " resets in 24 hours")}.`,
    body: contracts.PasswordResetRequest,
    success: { status: 202, description: "A mail is sent if an active user has this e-mail." },
    rateLimit: ROUTE_LIMITS.mail,
  },
  confirmPasswordReset: {
    summary: "Set a new password with the token of a mail",
    description: "Revokes all tokens of the user and verifies the e-mail.",
    body: contracts.PasswordResetConfirmation,
    success: { status: 204, description: "The password is changed." },
    errors: ["ONE_TIME_TOKEN_INVALID", ...HASHING_ERRORS],
    rateLimit: {
      ...ROUTE_LIMITS.passwordChange,
      description:
        "Confirmations count against the limit of password changes, by default {quota} per client address.",
    },
  },
  requestEmailVerification: {
    summary: "Request a mail that verifies the e-mail of the current user",
    description: `A registration requests the first one. The link is valid for ${contracts.MAILS.verification.lifetime}.`,
    success: { status: 202, description: "A mail is sent unless the e-mail is verified." },
    rateLimit: ROUTE_LIMITS.mail,
    isProtected: true,
  },
  confirmEmailVerification: {
    summary: "Verify an e-mail with the token of a mail",
    description: "Has the same response if the e-mail is already verified.",
    body: contracts.EmailVerificationConfirmation,
    success: { status: 204, description: "The e-mail is verified." },
    errors: ["ONE_TIME_TOKEN_INVALID"],
  },
  requestEmailChange: {
    summary: "Request a change of the e-mail of the current user",
    description: `If the present e-mail is verified, a mail to it asks for approval; otherwise, the mail that confirms the change is sent to the new address at once. Its link is valid for ${contracts.MAILS["email-change-approval"].lifetime}, until the next request, or until the password, the e-mail or the token version of the user changes. A request for the present e-mail only cancels the change. Returns the same response if the address is taken, and for further requests after ${inWords(EMAIL_CHANGE_REQUESTS)} of a user in 24 hours, which have no effect.`,
    body: contracts.EmailChangeRequest,
    success: { status: 202, description: "The request is accepted; it can have no effect." },
    errors: ["CURRENT_PASSWORD_INCORRECT", ...HASHING_ERRORS],
    rateLimit: {
      ...ROUTE_LIMITS.passwordChange,
      description:
        "Requests count against the limit of password changes, by default {quota} per user and per client address, and against that of wrong current passwords.",
    },
    isProtected: true,
  },
  approveEmailChange: {
    summary: "Approve a change of e-mail with the token of a mail",
    description: `Requests the mail that confirms the change, to the new address; its link is valid for ${contracts.MAILS["email-change"].lifetime}. No mail is sent if the address is taken. The token works once.`,
    body: contracts.EmailChangeApproval,
    success: { status: 204, description: "The change is approved." },
    errors: ["ONE_TIME_TOKEN_INVALID"],
  },
  confirmEmailChange: {
    summary: "Change the e-mail with the token of a mail",
    description:
      "The new e-mail is verified. Revokes all tokens of the user, makes their networks unfamiliar, deletes their passkeys, and notifies the old e-mail.",
    body: contracts.EmailChangeConfirmation,
    success: { status: 204, description: "The e-mail is changed." },
    errors: ["ONE_TIME_TOKEN_INVALID", "USER_ALREADY_EXISTS"],
  },
} as const satisfies Readonly<Record<string, OperationOptions>>;

const EMAIL_ISSUE = {
  loc: ["body", "email"],
  msg: "is not a valid e-mail address",
  type: "string_pattern_mismatch",
};

/** Whether the password is on the list of passwords that users cannot choose. */
export type IsListed = (password: string) => boolean;

/** Applies the rules for new passwords to the operations. Logins have no rules. */
export function createOperations(rules: AccountRules, isListed: IsListed) {
  const issue = { loc: ["body", "password"], msg: "is too common or was leaked", type: "password_listed" };
  const refineBody = ({ password }: { readonly password?: unknown }) =>
    typeof password === "string" && isListed(password) ? [issue] : [];
  const refineEmail = ({ email }: { readonly email?: unknown }) =>
    typeof email === "string" && !contracts.isMailable(email) ? [EMAIL_ISSUE] : [];
  const withRules = <Body extends Type.TObject>(body: Body, name = nameOf(body)) => {
    const named: Body = { ...contracts.withPasswordMinLength(body, rules.passwordMinLength), $id: name };
    return { body: named, refineBody };
  };
  const { register, requestEmailChange, updateMe, confirmPasswordReset } = OPERATIONS;
  const updateBody = contracts.updateUserRequest(rules);
  return defineOperations("Auth", {
    ...OPERATIONS,
    register: {
      ...register,
      ...withRules(register.body),
      refineBody: (body) => [...refineEmail(body), ...refineBody(body)],
    },
    requestEmailChange: { ...requestEmailChange, refineBody: refineEmail },
    updateMe: { ...updateMe, ...withRules(updateBody, nameOf(updateMe.body)) },
    confirmPasswordReset: { ...confirmPasswordReset, ...withRules(confirmPasswordReset.body) },
  });
}
