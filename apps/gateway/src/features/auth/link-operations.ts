/** The operations that send mails with links, and those that confirm a link. The rules are in `links.ts`. */
import * as contracts from "@latchkey/contracts";
import { HASHING_ERRORS, OWNER_ERRORS } from "../../errors.ts";
import { INVALID_EMAIL, wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import { describeRefill, EMAIL_CHANGE_REQUESTS, inWords, MAIL_BUDGETS } from "../../rate-limit/limits.ts";
import type { LinkService } from "./links.ts";
import { type NewCredentialsOptions, newCredentials } from "./operations.ts";

const operation = userOperation({ tag: "Auth", feature: "mail" });

const INVALID_TOKEN_TYPE = wrongType("body", "token", "string");

export function linkOperations(options: NewCredentialsOptions & { readonly links: LinkService }) {
  const { links, features } = options;
  const { withMinLength, passwordIssues, emailIssues, tooShort } = newCredentials(options);
  const removesLogins = features.has("passkeys") || features.has("identities");
  const deletesLogins = removesLogins ? "deletes their passkeys and identities, " : "";
  return [
    operation({
      id: "requestPasswordReset",
      method: "POST",
      path: "/auth/password-reset",
      summary: "Request a mail that resets a password",
      description: `Returns the same response for every valid e-mail, registered or not. The link in the mail is valid for ${contracts.MAILS.reset.lifetime} and works once. Each recipient gets ${describeRefill(MAIL_BUDGETS.resets, " resets in 24 hours")}, and as many again for requests from networks where the user has logged in within 30 days.`,
      body: contracts.PasswordResetRequest,
      issues: [INVALID_EMAIL],
      limit: { quota: "mail" },
      success: { status: 202, description: "A mail is sent if an active user has this e-mail." },
      handler: ({ body }, request) => links.requestReset(body.email, request),
    }),
    operation({
      id: "confirmEmailVerification",
      method: "POST",
      path: "/auth/email-verification/confirm",
      summary: "Verify an e-mail with the token of a mail",
      description: "Has the same response if the e-mail is already verified.",
      body: contracts.EmailVerificationConfirmation,
      issues: [INVALID_TOKEN_TYPE],
      success: { status: 204, description: "The e-mail is verified." },
      errors: ["ONE_TIME_TOKEN_INVALID"],
      handler: ({ body }, request) => links.confirmVerification(body, request),
    }),
    operation({
      id: "confirmPasswordReset",
      method: "POST",
      path: "/auth/password-reset/confirm",
      summary: "Set a new password with the token of a mail",
      description: `Revokes all tokens of the user, ${deletesLogins}makes their other networks unfamiliar, and verifies the e-mail.`,
      body: withMinLength(contracts.PasswordResetConfirmation),
      refineBody: passwordIssues,
      issues: [tooShort],
      limit: {
        quota: "passwordChange",
        description:
          "Confirmations count against the limit of password changes, by default {quota} per client address.",
      },
      success: { status: 204, description: "The password is changed." },
      errors: ["ONE_TIME_TOKEN_INVALID", ...HASHING_ERRORS],
      handler: ({ body }, request) => links.confirmReset(body, request),
    }),
    operation({
      id: "requestEmailVerification",
      method: "POST",
      path: "/auth/email-verification",
      summary: "Request a mail that verifies the e-mail of the current user",
      description: `A registration requests the first one. The link is valid for ${contracts.MAILS.verification.lifetime}.`,
      requiresToken: true,
      limit: { quota: "mail" },
      success: { status: 202, description: "A mail is sent unless the e-mail is verified." },
      handler: ({ principal }) => links.requestVerification(principal),
    }),
    operation({
      id: "approveEmailChange",
      method: "POST",
      path: "/auth/email-change/approve",
      feature: "emailChange",
      summary: "Approve a change of e-mail with the token of a mail",
      description: `Requests the mail that confirms the change, to the new address; its link is valid for ${contracts.MAILS["email-change"].lifetime}. No mail is sent if the address is taken. The token works once.`,
      body: contracts.EmailChangeApproval,
      issues: [INVALID_TOKEN_TYPE],
      success: { status: 204, description: "The change is approved." },
      errors: ["ONE_TIME_TOKEN_INVALID"],
      handler: ({ body }, request) => links.approveEmailChange(body, request),
    }),
    operation({
      id: "confirmEmailChange",
      method: "POST",
      path: "/auth/email-change/confirm",
      feature: "emailChange",
      summary: "Change the e-mail with the token of a mail",
      description: `The new e-mail is verified. Revokes all tokens of the user, ${deletesLogins}makes their networks unfamiliar, and notifies the old e-mail.`,
      body: contracts.EmailChangeConfirmation,
      issues: [INVALID_TOKEN_TYPE],
      success: { status: 204, description: "The e-mail is changed." },
      errors: ["ONE_TIME_TOKEN_INVALID", "USER_ALREADY_EXISTS"],
      handler: ({ body }, request) => links.confirmEmailChange(body, request),
    }),
    operation({
      id: "requestEmailChange",
      method: "POST",
      path: "/auth/email-change",
      feature: "emailChange",
      summary: "Request a change of the e-mail of the current user",
      description: `If the present e-mail is verified, a mail to it asks for approval; otherwise, the mail that confirms the change is sent to the new address at once. Its link is valid for ${contracts.MAILS["email-change-approval"].lifetime}, until the next request, or until the password, the e-mail or the token version of the user changes. A request for the present e-mail only cancels the change. Returns the same response if the address is taken, and for further requests after ${inWords(EMAIL_CHANGE_REQUESTS)} of a user in 24 hours, which have no effect.`,
      requiresToken: true,
      body: contracts.EmailChangeRequest,
      refineBody: emailIssues,
      issues: [INVALID_EMAIL],
      limit: {
        quota: "passwordChange",
        per: "user",
        description:
          "Requests count against the limit of password changes, by default {quota} per user and per client address, and against that of wrong current passwords.",
      },
      success: { status: 202, description: "The request is accepted; it can have no effect." },
      errors: OWNER_ERRORS,
      handler: ({ principal, body }, request) => links.requestEmailChange(principal, body, request),
    }),
  ];
}
