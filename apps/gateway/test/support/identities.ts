/** Logins with an OpenID Connect provider and with codes, as an application makes them. */
import { createHash, randomBytes } from "node:crypto";
import type { Identity, Token } from "@latchkey/contracts";
import { importTokenKeys } from "../../src/tokens/token-keys.ts";
import type { ClientResponse } from "./client.ts";
import { CLIENT, type HostileProvider, type ProviderReplies } from "./openid/hostile-provider.ts";
import { newCredentials, SECRET_KEY, type Service, type TestUser } from "./service.ts";

export const REDIRECT_URI = "https://app.example.com/callback";

interface ProviderSettings {
  readonly name?: string;
  readonly link?: boolean;
  readonly token_endpoint_auth_method?: string;
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

/** The body that ends a login, after the user has logged in at the provider. */
export async function oidcBody(
  service: Service,
  provider: HostileProvider,
  replies: ProviderReplies = {},
  options: { readonly name?: string } = {},
) {
  const { url, body } = await beginOidc(service, options);
  return { code: provider.authorize(url, replies), iss: provider.issuer, ...body };
}

/** Logs in at the provider, and returns the response of the service. `body` replaces members of the last request. */
export async function loginOidc(
  service: Service,
  provider: HostileProvider,
  replies: ProviderReplies = {},
  { name = "example", ...body }: Readonly<Record<string, string>> & { readonly name?: string } = {},
): Promise<ClientResponse> {
  const sent = { ...(await oidcBody(service, provider, replies, { name })), ...body };
  return service.call("POST", `/auth/login/oidc/${name}`, { body: sent });
}

export const tokenOf = (response: ClientResponse): string => response.expect<Token>(200).access_token;

/** The body of a login with the code of a mail, which is sent as far as the outbox knows. */
export async function codeBody(
  { call, config, readUser, sql }: Service,
  { id, email }: Pick<TestUser, "id" | "email">,
) {
  const begun = await call("POST", "/auth/login/email/options", { body: { email } });
  const { state } = begun.expect<{ state: string }>(200);
  const { loginCodes } = await importTokenKeys(config.tokenKeys, () => SECRET_KEY);
  const { nonce = "" } = loginCodes.verifyState(state) ?? {};
  const sent = "attempts = 1, attempted_at = created_at, next_attempt_at = null, email_digest = 'digest'";
  await sql(`update outbox set ${sent} where state = '${nonce}'`);
  return { state, code: loginCodes.codeOf(nonce, await readUser(id)) };
}

/** The claims of somebody whom the provider and the service have not seen. */
export function newClaims() {
  const { email, username } = newCredentials();
  return { email, sub: username };
}

/** What an operation on identities or codes needs to succeed. */
export async function prepareIdentity(
  operationId: string | undefined,
  service: Service,
  provider: HostileProvider,
  user: TestUser,
) {
  const replies = { claims: newClaims() };
  if (operationId === "emailLogin") return { body: await codeBody(service, user) };
  if (operationId === "oidcLogin") {
    await loginOidc(service, provider, replies);
    return { body: await oidcBody(service, provider, replies) };
  }
  if (!["addIdentity", "deleteIdentity", "removeIdentity"].includes(operationId ?? "")) return {};
  const body = { ...(await oidcBody(service, provider, replies)), current_password: user.password };
  if (operationId === "addIdentity") return { id: "example", body };
  const added = await service.call("POST", "/auth/identities/example", { token: user.token, body });
  const { id } = added.expect<Identity>(201);
  return operationId === "deleteIdentity" ? { id } : { id, body: { current_password: user.password } };
}
