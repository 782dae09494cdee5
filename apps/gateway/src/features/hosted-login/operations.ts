/** The operations of hosted login. The rules are in `service.ts`. `POST /oauth/token` is the only one with a form-encoded body. */
import type { AuthorizationServerMetadata } from "@latchkey/contracts";
import * as contracts from "@latchkey/contracts";
import { ServiceError } from "../../errors.ts";
import { INVALID_CHALLENGE } from "../../http/issues.ts";
import { userOperation } from "../../http/operation.ts";
import type { Login } from "../../login.ts";
import { expiresIn } from "../../tokens/access-tokens.ts";
import type { HostedLogin } from "./service.ts";

const operation = userOperation({ tag: "Hosted login" });

const TOKEN_PATH = "/oauth/token";

interface MetadataOptions {
  /** The URL of this service. */
  readonly issuer: string;
  readonly hasSecondFactor: boolean;
}

const createMetadata = ({ issuer, hasSecondFactor }: MetadataOptions): AuthorizationServerMetadata => ({
  issuer,
  authorization_endpoint: issuer + contracts.AUTHORIZE_PATH,
  token_endpoint: issuer + TOKEN_PATH,
  jwks_uri: `${issuer}/.well-known/jwks.json`,
  response_types_supported: ["code"],
  grant_types_supported: [contracts.AUTHORIZATION_CODE_GRANT],
  token_endpoint_auth_methods_supported: ["none"],
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  ...(hasSecondFactor && { acr_values_supported: ["1fa", "2fa"] }),
});

export const hostedLoginOperations = (hostedLogin: HostedLogin, login: Login, options: MetadataOptions) => [
  operation({
    id: "authorize",
    method: "POST",
    path: "/auth/authorize",
    summary: "Get a code for an application",
    description: `For the page \`${contracts.AUTHORIZE_PATH}\`, which then redirects to the application. The login of the token must be at most five minutes old. The code is valid for a minute and works once, with the verifier of the challenge.`,
    requiresToken: true,
    body: contracts.AuthorizationRequest,
    issues: [INVALID_CHALLENGE],
    success: { status: 200, description: "The code.", schema: contracts.AuthorizationResponse },
    errors: ["LOGIN_REQUIRED", "RECENT_LOGIN_REQUIRED"],
    handler: ({ principal, body }, request) => hostedLogin.authorize(principal, body, request),
  }),
  operation({
    id: "exchangeCode",
    method: "POST",
    path: TOKEN_PATH,
    summary: "Exchange a code for an access token",
    description:
      "The token endpoint of OAuth (RFC 6749 §4.1.3, RFC 7636 §4.5) for public clients. The token is that of the login on the page: `auth_time`, `amr` and `acr` are those of the login. There is no refresh token: renew the token with `POST /auth/tokens`. A code that is malformed, expired, used, of another client, redirect URI or verifier, or whose user has changed, is `invalid_grant`.",
    body: contracts.CodeExchangeRequest,
    form: {
      check({ grant_type: grant }) {
        if (grant !== undefined && grant !== contracts.AUTHORIZATION_CODE_GRANT)
          throw new ServiceError("UNSUPPORTED_GRANT_TYPE");
      },
    },
    limit: { quota: "codeExchange", per: "rejection" },
    success: { status: 200, description: "An access token.", schema: contracts.ExchangedToken },
    errors: ["INVALID_TOKEN_REQUEST", "UNSUPPORTED_GRANT_TYPE", "INVALID_CLIENT", "INVALID_GRANT"],
    handler: async ({ body }, request) => {
      const token = await login(await hostedLogin.verifyExchange(body, request), request);
      return { ...contracts.toToken(token), expires_in: expiresIn(token) };
    },
  }),
  // The metadata of an issuer with a path is not below that path (RFC 8414 §3).
  ...(new URL(options.issuer).pathname === "/" ? [metadataOperation(createMetadata(options))] : []),
];

const metadataOperation = (metadata: AuthorizationServerMetadata) =>
  operation({
    id: "getAuthorizationServer",
    method: "GET",
    path: "/.well-known/oauth-authorization-server",
    summary: "Read the metadata of the authorization server",
    description: "For libraries of OAuth (RFC 8414). Every origin can read it.",
    success: { status: 200, description: "The metadata.", schema: contracts.AuthorizationServerMetadata },
    isStatic: true,
    handler(_input, { response }) {
      response.headers["access-control-allow-origin"] = "*";
      return metadata;
    },
  });
