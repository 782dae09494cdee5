/**
 * GitHub, which is no OpenID Connect provider: OAuth 2 (RFC 6749, 7636), and an API that returns the user and the addresses. Errors of
 * the token endpoint have the status 200. A GitHub Enterprise Server has its API below its own address.
 */
import type { OidcProvider } from "@latchkey/config";
import type { IdentityClaims, ProviderClient } from "./provider-client.ts";
import { describeOauthError, fetchBounded, ProviderUnavailable, readMembers } from "./provider-responses.ts";

const GITHUB = "https://github.com";
const HEADERS = { accept: "application/json", "user-agent": "Latchkey" };

type Members = Readonly<Record<string, unknown>>;

const apiOf = (issuer: string): string => (issuer === GITHUB ? "https://api.github.com" : `${issuer}/api/v3`);

/** GitHub also rejects with 403 if this client sent too many requests. @throws ProviderUnavailable */
async function fetchGithub(url: string, options: RequestInit) {
  const answer = await fetchBounded(url, { redirect: "error", ...options });
  if (answer.headers.get("x-ratelimit-remaining") === "0" && answer.status === 403)
    throw new ProviderUnavailable("The provider limits this client");
  return answer;
}

/** @throws ProviderUnavailable */
async function request(url: string, options: RequestInit, names: readonly string[]): Promise<Members> {
  const { status, content } = await fetchGithub(url, options);
  const members = readMembers(content ?? "", names);
  if (status === 200 && members !== null) return members;
  throw new ProviderUnavailable(`The provider responded with ${status} to ${new URL(url).pathname}`);
}

/** @throws ProviderUnavailable if GitHub rejects this client, or another error if it rejects the code */
async function redeemCode(issuer: string, parameters: Readonly<Record<string, string>>): Promise<string> {
  const options = { method: "POST", headers: HEADERS, body: new URLSearchParams(parameters) };
  const names = ["access_token", "error", "error_description"];
  const answer = await request(`${issuer}/login/oauth/access_token`, options, names);
  const { access_token: token, error, error_description: description } = answer;
  if (typeof token === "string" && /^[\x21-\x7e]+$/.test(token)) return token;
  const message = `The provider rejected the code${describeOauthError(error, description)}`;
  throw error === "incorrect_client_credentials" ? new ProviderUnavailable(message) : new Error(message);
}

/** The list of addresses is an array, which is read as a member. */
async function readAddresses(url: string, headers: Readonly<Record<string, string>>): Promise<unknown> {
  const { status, content } = await fetchGithub(url, { headers });
  // Without the scope for addresses: the user is no error of the provider, but has no verified e-mail.
  if (status === 403 || status === 404) return [];
  if (status !== 200) throw new ProviderUnavailable(`The provider responded with ${status} to /user/emails`);
  return readMembers(`{"addresses":${content}}`, ["addresses"], new Map([["addresses", JSON.parse]]))
    ?.addresses;
}

const isPrimary = (address: unknown): address is Members =>
  typeof address === "object" && address !== null && "primary" in address && address.primary === true;

export function createGithubClient({ issuer, clientId, clientSecret, scope }: OidcProvider): ProviderClient {
  const api = apiOf(issuer);
  return {
    authorizationUrl: async ({ redirectUri, challenge, state }) => {
      const parameters = {
        response_type: "code",
        client_id: clientId,
        redirect_uri: redirectUri,
        scope,
        state,
        code_challenge: challenge,
        code_challenge_method: "S256",
      };
      return `${issuer}/login/oauth/authorize?${new URLSearchParams(parameters)}`;
    },
    async redeem({ code, iss, verifier, redirectUri }, inTime) {
      // RFC 9207: the response of another provider.
      if (iss !== undefined && iss !== issuer && !iss.startsWith(`${issuer}/`))
        throw new Error("The response is of another issuer");
      const token = await inTime(
        redeemCode(issuer, {
          client_id: clientId,
          client_secret: clientSecret,
          code,
          code_verifier: verifier,
          redirect_uri: redirectUri,
        }),
      );
      const headers = { ...HEADERS, authorization: `Bearer ${token}` };
      const { id, login } = await inTime(request(`${api}/user`, { headers }, ["id", "login"]));
      // The id stays. Another user can get the name after a change.
      if (!Number.isSafeInteger(id)) throw new ProviderUnavailable("The user of the provider has no id");
      const readClaims = async (): Promise<IdentityClaims> => {
        const addresses = await readAddresses(`${api}/user/emails?per_page=100`, headers);
        const { email, verified } = (Array.isArray(addresses) && addresses.find(isPrimary)) || {};
        return { email, emailVerified: verified, preferredUsername: login };
      };
      return { subject: String(id), readClaims };
    },
  };
}
