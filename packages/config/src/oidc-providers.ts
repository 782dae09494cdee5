/** OpenID Connect providers, GitHub, and the pages to which they redirect. No message contains a value: one is a secret. */
import { leavesMachine } from "./network.ts";
import { invalid, type Kind } from "./variable-kinds.ts";

export interface OidcProvider {
  /** Part of the paths of the API. */
  readonly name: string;
  readonly type: ProviderType;
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scope: string;
  /** The text of the button. @default null: the name */
  readonly label: string | null;
  /** How the service authenticates at the token endpoint. @default null: as the metadata requires */
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod | null;
  /** Whether the provider can log in to the existing user of a verified e-mail. Such a provider can open every account. */
  readonly link: boolean;
}

export type ProviderType = "oidc" | "github";
export type TokenEndpointAuthMethod = "client_secret_post" | "client_secret_basic";

const NAME = /^[a-z0-9-]{1,32}$/;
/** OpenID Connect Core §2: a URL without query and fragment. */
const isIssuer = (text: string): boolean =>
  URL.canParse(text) && !/[?#\s]/.test(text) && (/^https:/.test(text) || isLocalHttp(text));
export const isLocalHttp = (text: string): boolean => /^http:/.test(text) && !leavesMachine(text);
/** Printable, and without blanks around it. */
export const LABEL = /^(?=.{1,64}$)[^\p{C}\s]+( [^\p{C}\s]+)*$/u;
/** RFC 6749 §3.3. */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/;

/** The issuer of a provider of the type github that is no GitHub Enterprise Server. */
const GITHUB = "https://github.com";
const SCOPES = { oidc: "openid email profile", github: "read:user user:email" } as const;

const MEMBERS: Readonly<Record<string, (value: unknown, provider: { readonly type?: unknown }) => boolean>> =
  {
    name: (value) => typeof value === "string" && NAME.test(value),
    type: (value) => value === undefined || value === "oidc" || value === "github",
    issuer: (value, { type }) =>
      (value === undefined && type === "github") || (typeof value === "string" && isIssuer(value)),
    client_id: (value) => typeof value === "string" && value !== "",
    client_secret: (value) => typeof value === "string" && value !== "",
    scope: (value, { type }) =>
      value === undefined ||
      (typeof value === "string" &&
        SCOPE.test(value) &&
        (type === "github" || value.split(" ").includes("openid"))),
    label: (value) => value === undefined || (typeof value === "string" && LABEL.test(value)),
    token_endpoint_auth_method: (value) =>
      value === undefined || value === "client_secret_post" || value === "client_secret_basic",
    link: (value) => value === undefined || typeof value === "boolean",
  };

interface ParsedProvider {
  readonly name: string;
  readonly type?: ProviderType;
  readonly issuer?: string;
  readonly client_id: string;
  readonly client_secret: string;
  readonly scope?: string;
  readonly label?: string;
  readonly token_endpoint_auth_method?: TokenEndpointAuthMethod;
  readonly link?: boolean;
}

/** Returns the name of a member that is missing, unknown or not valid; null if the provider is valid. */
function invalidMember(provider: object): string | null {
  const given = new Map<string, unknown>(Object.entries(provider));
  const unknown = [...given.keys()].find((name) => !Object.hasOwn(MEMBERS, name));
  if (unknown !== undefined) return "name of a member is not known, or whose value";
  return Object.keys(MEMBERS).find((name) => !MEMBERS[name]?.(given.get(name), provider)) ?? null;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;
/** The cast is safe because `MEMBERS` has checked every member. */
const toParsed = (provider: object): ParsedProvider => provider as ParsedProvider;

export function parseJson(text: string): unknown {
  try {
    // Editors on Windows write a byte order mark at the beginning of a file.
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return invalid("is not valid JSON");
  }
}

export const oidcProviders: Kind<readonly OidcProvider[]> = {
  accepted:
    'a JSON array such as [{"name": "google", "issuer": "https://accounts.google.com", "client_id": "…", "client_secret": "…"}], each with an optional "scope" that contains openid, an optional "label", "token_endpoint_auth_method" and "link": true; "type": "github" needs no issuer',
  parse: (text) => {
    const list = parseJson(text);
    if (!Array.isArray(list) || list.length === 0) return invalid("is not a JSON array of providers");
    const providers = list.map((provider: unknown, index): OidcProvider => {
      if (!isObject(provider)) return invalid(`has an entry ${index + 1} that is not an object`);
      const member = invalidMember(provider);
      if (member !== null)
        return invalid(`has an entry ${index + 1} whose ${member} is missing or not valid`);
      const { name, client_id, client_secret, link, label, token_endpoint_auth_method, ...given } =
        toParsed(provider);
      const { type = "oidc", issuer = GITHUB, scope = SCOPES[type] } = given;
      return {
        name,
        type,
        issuer: type === "github" ? issuer.replace(/\/$/, "") : issuer,
        clientId: client_id,
        clientSecret: client_secret,
        scope,
        link: link ?? false,
        label: label ?? null,
        tokenEndpointAuthMethod: token_endpoint_auth_method ?? null,
      };
    });
    const names = new Set(providers.map(({ name }) => name));
    return names.size === providers.length ? providers : invalid("has two entries with the same name");
  },
};

/** Private-use schemes of native applications contain a dot (RFC 8252 §7.1). */
export const PRIVATE_SCHEME = /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:/;
/** The library `openid-client` sends the page in the form of `URL`, and without a query. Providers compare it exactly. */
const isRedirectUri = (text: string): boolean =>
  URL.parse(text)?.href === text &&
  !/[?#]/.test(text) &&
  (/^https:\/\//.test(text) || isLocalHttp(text) || PRIVATE_SCHEME.test(text));

export const redirectUris: Kind<readonly string[]> = {
  accepted:
    "pages such as https://app.example.com/callback or http://localhost:3000/callback, separated by commas",
  parse: (text) => {
    const entries = text.split(",").flatMap((entry) => entry.trim() || []);
    if (entries.length === 0) invalid();
    return entries.every(isRedirectUri)
      ? entries
      : invalid("contains an invalid page, or one with a query or without the slash after the host");
  },
};
