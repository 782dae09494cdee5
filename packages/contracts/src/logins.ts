/** The wire shapes of other ways to log in: with a code from a mail, and with an OpenID Connect provider. */
import Type from "typebox";
import * as bounds from "./bounds.ts";
import { Email, RecentPassword, Username } from "./credentials.ts";
import { CODE_CHALLENGE_PATTERN, CODE_VERIFIER_PATTERN, Timestamp, text } from "./text.ts";

const STATE = "WyJvaWRjIl0.c2lnbmF0dXJl";
const state = text({ description: "From the options.", examples: [STATE] });

export const EmailLoginOptionsRequest = Type.Object({ email: Email });
export const EmailLoginOptionsResponse = Type.Object({ state });

export const EmailLoginRequest = Type.Object({
  state,
  code: text({ maxLength: 64, description: "The eight digits from the mail.", examples: ["12345678"] }),
});
export type EmailLoginRequest = Type.Static<typeof EmailLoginRequest>;

export const OidcOptionsRequest = Type.Object({
  redirect_uri: text({
    maxLength: 2048,
    description: "One of the configured pages of the application.",
    examples: ["https://app.example.com/callback"],
  }),
  code_challenge: Type.String({
    pattern: CODE_CHALLENGE_PATTERN,
    description: "The S256 challenge of a verifier that the application keeps (RFC 7636 §4.2).",
    examples: ["E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"],
  }),
});
export type OidcOptionsRequest = Type.Static<typeof OidcOptionsRequest>;
export const OidcOptionsResponse = Type.Object({
  authorization_url: Type.String({
    description: "The page of the provider to which the application sends the browser.",
    examples: ["https://accounts.example.com/authorize"],
  }),
  state,
});

const oidcResponse = {
  code: text({ maxLength: 8192, description: "From the redirect.", examples: ["SplxlOBeZQQYbYS6WxSbIA"] }),
  state,
  code_verifier: Type.String({
    pattern: CODE_VERIFIER_PATTERN,
    examples: ["dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"],
  }),
  iss: Type.Optional(
    text({
      maxLength: 2048,
      description: "From the redirect, if it has one (RFC 9207).",
      examples: ["https://accounts.example.com"],
    }),
  ),
};

export const OidcLoginRequest = Type.Object({ ...oidcResponse, username: Type.Optional(Username) });
export type OidcLoginRequest = Type.Static<typeof OidcLoginRequest>;

export const AddIdentityRequest = Type.Object({
  ...oidcResponse,
  current_password: Type.Optional(RecentPassword),
});
export type AddIdentityRequest = Type.Static<typeof AddIdentityRequest>;

export const ProviderPath = Type.Object({
  name: text({ description: "The configured name of the provider.", examples: ["example"] }),
});

/** The same name as in `IdentityPath`: two paths of an OpenAPI document cannot differ only in the names of parameters. */
export const AddedProviderPath = Type.Object({ id: ProviderPath.properties.name });

const id = Type.Integer({ minimum: 1, maximum: bounds.ID_MAX, examples: [1] });
export const IdentityPath = Type.Object({ id });

export const Identity = Type.Object({
  id,
  provider: Type.String({ description: "The configured name of the provider.", examples: ["example"] }),
  created_at: Timestamp,
  last_used_at: Type.Union([Timestamp, Type.Null()], { description: "Of a login.", examples: [null] }),
});
export type Identity = Type.Static<typeof Identity>;

/** Copies only the listed members, so that a new column is never exposed by accident. */
export const toIdentity = (
  stored: Pick<Identity, "id" | "provider"> & {
    readonly createdAt: string;
    readonly lastUsedAt: string | null;
  },
): Identity => ({
  id: stored.id,
  provider: stored.provider,
  created_at: stored.createdAt,
  last_used_at: stored.lastUsedAt,
});

export const IdentityListResponse = Type.Array(Identity, { examples: [[]] });

/** The keys are the names in the OpenAPI document. */
export const LOGIN_SCHEMAS = {
  EmailLoginOptionsRequest,
  EmailLoginRequest,
  EmailLoginOptionsResponse,
  OidcOptionsRequest,
  OidcLoginRequest,
  AddIdentityRequest,
  OidcOptionsResponse,
  IdentityResponse: Identity,
  IdentityListResponse,
};
