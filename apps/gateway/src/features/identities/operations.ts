/** The operations on identities of OpenID Connect providers. The rules are in `service.ts`. */
import * as contracts from "@latchkey/contracts";
import { OWNER_ERRORS } from "../../errors.ts";
import { INVALID_CHALLENGE, INVALID_VERIFIER, wrongType } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import { OWNER_LIMIT } from "../../rate-limit/limits.ts";
import type { IdentityService } from "./service.ts";

const operation = userOperation({ tag: "Auth" });

export const identityOperations = (identityService: IdentityService, login: Login) => [
  operation({
    id: "oidcLoginOptions",
    method: "POST",
    path: "/auth/login/oidc/:name/options",
    beginsLogin: "provider",
    summary: "Begin a login with an OpenID Connect provider",
    description:
      "Returns the page of the provider, and a state, which is valid for ten minutes. The application keeps the verifier of the challenge, and sends the browser to the page.",
    params: contracts.ProviderPath,
    body: contracts.OidcOptionsRequest,
    issues: [INVALID_CHALLENGE],
    success: { status: 200, description: "The page and the state.", schema: contracts.OidcOptionsResponse },
    errors: ["PROVIDER_UNAVAILABLE"],
    handler: ({ params, body }) => identityService.begin(params.name, body),
  }),
  operation({
    id: "oidcLogin",
    method: "POST",
    path: "/auth/login/oidc/:name",
    loginMethod: "provider",
    summary: "Exchange the response of a provider for an access token",
    description:
      "Logs in the user of the identity. Otherwise, the provider must have verified the e-mail. If no user has it, one is created without a password. If a user has it, the identity is added only if the provider is configured to link and no second factor protects the user; if that user has not verified the e-mail, the login ends the password, tokens, passkeys and identities of the user, because somebody else can have registered the e-mail. Every rejection of the provider, the state or the verifier has the same response.",
    params: contracts.ProviderPath,
    body: contracts.OidcLoginRequest,
    issues: [INVALID_VERIFIER],
    limit: { quota: "oidcLogin" },
    success: { status: 200, description: "An access token.", schema: contracts.Token },
    errors: [
      "IDENTITY_REJECTED",
      // Also if the provider has not verified the e-mail.
      "EMAIL_NOT_VERIFIED",
      "REGISTRATION_CLOSED",
      "USER_ALREADY_EXISTS",
      "TOO_MANY_IDENTITIES",
      "PROVIDER_UNAVAILABLE",
    ],
    handler: async ({ params, body }, request) =>
      contracts.toToken(await login(await identityService.verifyLogin(params.name, body, request), request)),
  }),
  operation({
    id: "listIdentities",
    method: "GET",
    path: "/auth/identities",
    summary: "List the identities of the current user",
    description: "The oldest comes first.",
    requiresToken: true,
    success: { status: 200, description: "The identities.", schema: contracts.IdentityListResponse },
    handler: async ({ principal }) => (await identityService.list(principal)).map(contracts.toIdentity),
  }),
  operation({
    id: "addIdentity",
    method: "POST",
    path: "/auth/identities/:id",
    summary: "Add an identity to the current user",
    description:
      "`id` is the name of the provider. The e-mail of the identity can be any. If the service sends mail, the e-mail of the user must be verified. Adding an identity again returns it.",
    requiresToken: true,
    params: contracts.AddedProviderPath,
    body: contracts.AddIdentityRequest,
    issues: [INVALID_VERIFIER],
    limit: OWNER_LIMIT,
    success: { status: 201, description: "The identity.", schema: contracts.Identity },
    errors: [
      "IDENTITY_REJECTED",
      "EMAIL_NOT_VERIFIED",
      "IDENTITY_ALREADY_USED",
      "TOO_MANY_IDENTITIES",
      "PROVIDER_UNAVAILABLE",
      ...OWNER_ERRORS,
    ],
    handler: async ({ principal, params, body }, request) =>
      contracts.toIdentity(await identityService.add(principal, params.id, body, request)),
  }),
  operation({
    id: "deleteIdentity",
    method: "DELETE",
    path: "/auth/identities/:id",
    summary: "Remove an identity of the current user",
    description:
      "Only if the configuration does not require `current_password` (`AUTH_REQUIRE_CURRENT_PASSWORD=false`); otherwise 403, and the operation whose path ends in `/removal` removes it. Tokens of earlier logins with it remain valid.",
    requiresToken: true,
    params: contracts.IdentityPath,
    issues: [wrongType("path", "id", "integer")],
    success: { status: 204, description: "The identity is removed." },
    errors: ["IDENTITY_NOT_FOUND", "LAST_LOGIN", "OWNER_PROOF_REQUIRED", "RECENT_LOGIN_REQUIRED"],
    handler: ({ principal, params }, request) => identityService.remove(principal, params.id, null, request),
  }),
  operation({
    id: "removeIdentity",
    method: "POST",
    path: "/auth/identities/:id/removal",
    summary: "Remove an identity of the current user",
    description: "Tokens of earlier logins with it remain valid.",
    requiresToken: true,
    params: contracts.IdentityPath,
    body: contracts.RemovalRequest,
    limit: OWNER_LIMIT,
    issues: [wrongType("path", "id", "integer")],
    success: { status: 204, description: "The identity is removed." },
    errors: ["IDENTITY_NOT_FOUND", "LAST_LOGIN", ...OWNER_ERRORS],
    handler: ({ principal, params, body }, request) =>
      identityService.remove(principal, params.id, body, request),
  }),
];
