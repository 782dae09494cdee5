/** The wire shapes of hosted login: OAuth's authorization code with PKCE (RFC 6749, RFC 7636), and the metadata (RFC 8414). */
import Type from "typebox";
import { CODE_CHALLENGE_PATTERN, CODE_VERIFIER_PATTERN, text } from "./text.ts";
import { Token } from "./users.ts";

/** The page to which an application sends the browser. */
export const AUTHORIZE_PATH = "/account/authorize";

const clientId = text({
  maxLength: 128,
  description: "A client of the configuration.",
  examples: ["web"],
});
const redirectUri = text({
  maxLength: 2048,
  description:
    "One of the client's, character by character; at `127.0.0.1` and `[::1]`, its port can be another one.",
  examples: ["https://app.example.com/callback"],
});
const code = text({ maxLength: 2600, examples: ["WyJhdXRob3JpemF0aW9uIl0.c2lnbmF0dXJl"] });

export const AuthorizationRequest = Type.Object({
  client_id: clientId,
  redirect_uri: redirectUri,
  code_challenge: Type.String({
    pattern: CODE_CHALLENGE_PATTERN,
    description: "The S256 challenge of a verifier that the client keeps (RFC 7636 §4.2).",
    examples: ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
  }),
});
export type AuthorizationRequest = Type.Static<typeof AuthorizationRequest>;

export const AuthorizationResponse = Type.Object({
  code,
  iss: Type.String({
    description: "The issuer, for the redirect (RFC 9207).",
    examples: ["https://accounts.example.com"],
  }),
});
export type AuthorizationResponse = Type.Static<typeof AuthorizationResponse>;

export const AUTHORIZATION_CODE_GRANT = "authorization_code";

export const CodeExchangeRequest = Type.Object({
  grant_type: Type.Literal(AUTHORIZATION_CODE_GRANT),
  code,
  client_id: clientId,
  code_verifier: Type.String({
    pattern: CODE_VERIFIER_PATTERN,
    examples: ["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],
  }),
  redirect_uri: Type.Optional(redirectUri),
});
export type CodeExchangeRequest = Type.Static<typeof CodeExchangeRequest>;

export const ExchangedToken = Type.Object({
  ...Token.properties,
  expires_in: Type.Integer({ minimum: 0, description: "In seconds.", examples: [3600] }),
});
export type ExchangedToken = Type.Static<typeof ExchangedToken>;

const texts = (description: string, example: string) =>
  Type.Array(Type.String(), { description, examples: [[example]] });
const url = (example: string) => Type.String({ examples: [example] });

export const AuthorizationServerMetadata = Type.Object({
  issuer: url("https://accounts.example.com"),
  authorization_endpoint: url("https://accounts.example.com/account/authorize"),
  token_endpoint: url("https://accounts.example.com/oauth/token"),
  jwks_uri: url("https://accounts.example.com/.well-known/jwks.json"),
  response_types_supported: texts("Only `code`.", "code"),
  grant_types_supported: texts("Only `authorization_code`.", AUTHORIZATION_CODE_GRANT),
  token_endpoint_auth_methods_supported: texts("Only `none`: clients are public.", "none"),
  code_challenge_methods_supported: texts("Only `S256`.", "S256"),
  authorization_response_iss_parameter_supported: Type.Boolean({ examples: [true] }),
  acr_values_supported: Type.Optional(texts("If second factors are on.", "2fa")),
});
export type AuthorizationServerMetadata = Type.Static<typeof AuthorizationServerMetadata>;

/** The member of errors of `POST /oauth/token` that OAuth's clients read (RFC 6749 §5.2). */
const OAUTH_ERRORS = [
  "invalid_request",
  "invalid_client",
  "invalid_grant",
  "unsupported_grant_type",
] as const;
export type OAuthError = (typeof OAUTH_ERRORS)[number];
export const OAuthErrorMember = Type.Enum([...OAUTH_ERRORS], {
  description: "The error in OAuth's words (RFC 6749 §5.2).",
});

/** The keys are the names in the OpenAPI document. */
export const HOSTED_LOGIN_SCHEMAS = {
  AuthorizationRequest,
  AuthorizationResponse,
  CodeExchangeRequest,
  ExchangedTokenResponse: ExchangedToken,
  AuthorizationServerMetadata,
};
