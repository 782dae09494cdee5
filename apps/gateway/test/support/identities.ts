/** Logins with an OpenID Connect provider, as an application makes them. */
import { createHash, randomBytes } from "node:crypto";
import type { Token } from "@latchkey/contracts";
import type { ClientResponse } from "./client.ts";
import { CLIENT, type HostileProvider, type ProviderReplies } from "./openid/hostile-provider.ts";
import type { Service } from "./service.ts";

export const REDIRECT_URI = "https://app.example.com/callback";

interface ProviderSettings {
  readonly name?: string;
  readonly link?: boolean;
}

/** The variables of a service with these providers. */
export const oidcVariables = (
  ...providers: readonly (readonly [HostileProvider, ProviderSettings?])[]
): Record<string, string> => ({
  OIDC_PROVIDERS: JSON.stringify(
    providers.map(([{ issuer }, settings]) => ({ name: "example", issuer, ...CLIENT, ...settings })),
  ),
  OIDC_REDIRECT_URIS: `${REDIRECT_URI},com.example.app:/callback`,
});

export function createVerifier() {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** Begins a login. Returns the body of its end, without the code. */
export async function beginOidc({ call }: Service, { name = "example", redirectUri = REDIRECT_URI } = {}) {
  const { verifier, challenge } = createVerifier();
  const body = { redirect_uri: redirectUri, code_challenge: challenge };
  const response = await call("POST", `/auth/login/oidc/${name}/options`, { body });
  const { authorization_url, state } = response.expect<{ authorization_url: string; state: string }>(200);
  return { url: authorization_url, body: { state, code_verifier: verifier } };
}

/** Logs in at the provider, and returns the response of the service. `body` replaces members of the last request. */
export async function loginOidc(
  service: Service,
  provider: HostileProvider,
  replies: ProviderReplies = {},
  { name = "example", ...body }: Readonly<Record<string, string>> & { readonly name?: string } = {},
): Promise<ClientResponse> {
  const begun = await beginOidc(service, { name });
  const code = provider.authorize(begun.url, replies);
  const sent = { code, iss: provider.issuer, ...begun.body, ...body };
  return service.call("POST", `/auth/login/oidc/${name}`, { body: sent });
}

export const tokenOf = (response: ClientResponse): string => response.expect<Token>(200).access_token;
