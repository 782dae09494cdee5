/** The operations of the administration. The rules are those of the admin tool (`packages/administration`). */
import type { Operator } from "@latchkey/administration";
import * as contracts from "@latchkey/contracts";
import { HASHING_ERRORS } from "../../errors.ts";
import { decodeCursor, encodeCursor } from "../../http/cursor.ts";
import { INVALID_EMAIL, issue, LISTED_PASSWORD, unknownParameter, wrongType } from "../../http/issues.ts";
import { operationFor } from "../../http/operation.ts";
import type { AdministrationService } from "./service.ts";

export interface AdministrationOperationsOptions {
  readonly service: AdministrationService;
  readonly passwordMinLength: number;
  readonly isListedPassword: (password: string) => boolean;
  readonly sendsMail: boolean;
  readonly languages: contracts.Languages;
}

const operation = operationFor<Operator>();

const OF_ADMINISTRATION = {
  tag: "Administration",
  requiresToken: true,
  // A misspelled condition would select all users.
  rejectsUnknownParameters: true,
  limit: "none",
} as const;
/** Of users: a program that mirrors them also reads them. */
const OPEN_TO_READERS = { openTo: ["read"] } as const;
const OF_USER = {
  ...OF_ADMINISTRATION,
  params: contracts.AdminUserPath,
  issues: [wrongType("path", "id", "integer")],
} as const;

/** The issues of a new user that the schema accepts. */
function combinationIssues(
  { invite, password, username }: contracts.CreateAdminUserRequest,
  sendsMail: boolean,
): contracts.ValidationIssue[] {
  if (invite && password !== undefined)
    return [issue("body", "invite", "cannot be combined with password", "not_allowed")];
  if (invite)
    return sendsMail
      ? []
      : [issue("body", "invite", "is not possible, because the service sends no mail", "not_allowed")];
  const missing = [
    ...(username === undefined ? ["username"] : []),
    ...(password === undefined ? ["password"] : []),
  ];
  return missing.map((name) => issue("body", name, "is required", "missing"));
}

export function administrationOperations(options: AdministrationOperationsOptions) {
  const { service, passwordMinLength, isListedPassword, sendsMail, languages } = options;
  const AdminUser = contracts.adminUser(languages);
  const emailIssues = ({ email }: { readonly email: string }) =>
    contracts.isMailable(email) ? [] : [INVALID_EMAIL];
  const claimsIssues = ({ claims }: { readonly claims?: contracts.Claims }) => {
    const issue = claims && contracts.describeTooLarge(claims);
    return issue ? [{ loc: ["body", "claims"], ...issue }] : [];
  };
  const passwordIssues = ({ password }: { readonly password?: string }) =>
    password !== undefined && isListedPassword(password) ? [LISTED_PASSWORD] : [];

  return [
    operation({
      ...OF_ADMINISTRATION,
      ...OPEN_TO_READERS,
      id: "listUsers",
      method: "GET",
      path: "/admin/users",
      summary: "List and find users by page",
      description:
        "In ascending order of id. Lists the users that meet all conditions. A malformed cursor starts the listing at the beginning.",
      query: contracts.AdminUserQuery,
      // Repetition makes a cursor malformed, and malformed cursors are ignored.
      normalizeQuery: ({ cursor, ...others }) =>
        typeof cursor === "string" ? { ...others, cursor } : others,
      issues: [wrongType("query", "limit", "integer")],
      success: { status: 200, description: "A page.", schema: contracts.adminUserPage(languages) },
      async handler({ query }, { signal }) {
        const { email, search, state, role, without_password: withoutPassword, cursor } = query;
        const page = {
          after: (cursor !== undefined && decodeCursor(cursor)) || 0,
          limit: query.limit ?? contracts.PAGE_SIZE_DEFAULT,
          email: email && contracts.normalizeEmail(email),
          search: search?.trim(),
          isActive: state && state === "active",
          role,
          isWithoutPassword: withoutPassword && withoutPassword === "true",
        };
        const { items, nextAfter } = await service.list(page, signal);
        return { items, next_cursor: nextAfter === null ? null : encodeCursor(nextAfter) };
      },
    }),
    operation({
      ...OF_ADMINISTRATION,
      id: "createUser",
      method: "POST",
      path: "/admin/users",
      summary: "Create or invite a user",
      description:
        "With a password, `username` is required. With `invite`, the user gets a mail with a link that sets the password; a user who exists without a password gets another mail and the `roles`, `claims` and `locale`, if they are sent; `username` and `email_verified` are ignored.",
      body: contracts.withPasswordMinLength(contracts.createAdminUserRequest(languages), passwordMinLength),
      refineBody: (body) => [
        ...emailIssues(body),
        ...combinationIssues(body, sendsMail),
        ...passwordIssues(body),
        ...claimsIssues(body),
      ],
      issues: [INVALID_EMAIL],
      success: { status: 201, description: "The new user.", schema: AdminUser },
      otherSuccess: {
        status: 200,
        description: "The user, who existed without a password and was invited again.",
        schema: AdminUser,
      },
      errors: ["USER_ALREADY_EXISTS", "INACTIVE_USER", "EMAIL_NOT_MAILABLE", ...HASHING_ERRORS],
      async handler({ body, principal }, { response, signal }) {
        const { reason, ...request } = body;
        const { user, isNew } = await service.create(request, { ...principal, reason }, signal);
        if (!isNew) response.status = 200;
        return user;
      },
    }),
    operation({
      ...OF_USER,
      ...OPEN_TO_READERS,
      id: "getUser",
      method: "GET",
      path: "/admin/users/:id",
      summary: "Read a user",
      description: "The state of the user, and the number of each other way to log in.",
      success: { status: 200, description: "The user.", schema: AdminUser },
      errors: ["USER_NOT_FOUND"],
      handler: ({ params }) => service.read(params.id),
    }),
    operation({
      ...OF_USER,
      ...OPEN_TO_READERS,
      id: "explainUser",
      method: "GET",
      path: "/admin/users/:id/explanation",
      summary: "Explain what happens if a user logs in now",
      description:
        "Sentences in the order in which the service decides, each with the command of the admin tool that changes the state. Reads the limits from Redis or, without Redis, from the memory of the replica that responds, and counts nothing.",
      success: { status: 200, description: "The explanation.", schema: contracts.AdminExplanation },
      errors: ["USER_NOT_FOUND"],
      handler: ({ params }) => service.explain(params.id),
    }),
    operation({
      ...OF_USER,
      id: "updateUser",
      method: "PATCH",
      path: "/admin/users/:id",
      summary: "Change a user",
      description:
        "Makes all changes or none; an empty object changes nothing. The present `email` changes nothing, also if its case, the form of its domain or spaces around it differ. Another `email` is not verified and ends all credentials; with mail, a reset is sent to it. A `password` ends all tokens, passkeys and identities. A removed role, `is_active: true` for an inactive user, and `email_verified: false` for a verified e-mail end all tokens. `claims` replaces all claims, and ends no token: the next ones have the new claims. With mail, a role can be given only to a user with a verified e-mail, or together with `email_verified: true`.",
      body: contracts.withPasswordMinLength(contracts.updateAdminUserRequest(languages), passwordMinLength),
      refineBody: (body) => [...passwordIssues(body), ...claimsIssues(body)],
      issues: [...OF_USER.issues, INVALID_EMAIL],
      success: { status: 200, description: "The changed user.", schema: AdminUser },
      errors: ["USER_NOT_FOUND", "USER_ALREADY_EXISTS", "EMAIL_NOT_VERIFIED", ...HASHING_ERRORS],
      handler({ params, body, principal }, { signal }) {
        const { reason, ...change } = body;
        return service.update(params.id, change, { ...principal, reason }, signal);
      },
    }),
    operation({
      ...OF_USER,
      id: "deleteUser",
      method: "DELETE",
      path: "/admin/users/:id",
      summary: "Delete a user",
      description: "Cannot be undone. The id is never used again.",
      query: contracts.AdminReasonQuery,
      success: { status: 204, description: "The user is deleted." },
      errors: ["USER_NOT_FOUND"],
      handler: ({ params, query, principal }) => service.delete(params.id, { ...principal, ...query }),
    }),
    operation({
      ...OF_USER,
      id: "revokeUserTokens",
      method: "DELETE",
      path: "/admin/users/:id/tokens",
      summary: "Revoke all tokens of a user",
      description: "Effective with the next request. The user can log in again.",
      query: contracts.AdminReasonQuery,
      success: { status: 204, description: "The tokens are revoked." },
      errors: ["USER_NOT_FOUND"],
      async handler({ params, query, principal }) {
        await service.revokeTokens(params.id, { ...principal, ...query });
      },
    }),
    operation({
      ...OF_USER,
      id: "removeUserPasskeys",
      method: "DELETE",
      path: "/admin/users/:id/passkeys",
      summary: "Delete all passkeys of a user",
      description: "Tokens of earlier logins remain valid. With mail, the user is notified.",
      query: contracts.AdminReasonQuery,
      success: { status: 204, description: "The passkeys are deleted." },
      errors: ["USER_NOT_FOUND"],
      async handler({ params, query, principal }) {
        await service.removePasskeys(params.id, { ...principal, ...query });
      },
    }),
    operation({
      ...OF_USER,
      id: "removeUserFactor",
      method: "DELETE",
      path: "/admin/users/:id/factor",
      summary: "Remove the second factor of a user",
      description:
        "For a user who lost the device and the recovery codes. Ends all tokens of the user. With mail, the user is notified.",
      query: contracts.AdminReasonQuery,
      success: { status: 204, description: "The second factor is removed." },
      errors: ["USER_NOT_FOUND", "FACTOR_NOT_FOUND"],
      async handler({ params, query, principal }) {
        await service.removeFactor(params.id, { ...principal, ...query });
      },
    }),
    operation({
      ...OF_USER,
      id: "sendUserPasswordReset",
      method: "POST",
      path: "/admin/users/:id/password-reset",
      feature: "mail",
      summary: "Mail a user the link that resets the password",
      description: "The budget of the recipient does not limit the mail, which is sent within seconds.",
      query: contracts.AdminReasonQuery,
      success: { status: 202, description: "The mail is in the outbox." },
      errors: ["USER_NOT_FOUND", "INACTIVE_USER", "EMAIL_NOT_MAILABLE"],
      async handler({ params, query, principal }) {
        await service.sendReset(params.id, { ...principal, ...query });
      },
    }),
    operation({
      ...OF_ADMINISTRATION,
      id: "countUsers",
      method: "GET",
      path: "/admin/stats",
      summary: "Count the users",
      description: "Reads all users, in short queries.",
      issues: [unknownParameter("state")],
      success: { status: 200, description: "The numbers of users.", schema: contracts.AdminStats },
      handler: (_, { signal }) => service.count(signal),
    }),
  ];
}
