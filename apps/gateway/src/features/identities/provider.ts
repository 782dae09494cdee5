/**
 * An OpenID Connect provider: its metadata, its authorization page, and the claims about the user of an authorization code. Every
 * response of the provider is bounded in time and size. Nothing is requested before the first login.
 */
import { leavesMachine, type OidcProvider } from "@latchkey/config";
import { withTimeout } from "@latchkey/database";
import * as oidc from "openid-client";

/** The provider does not respond in time, or not with what a provider responds. Its users are not to blame. */
export class ProviderUnavailable extends Error {
  override readonly name = "ProviderUnavailable";
  readonly code = "PROVIDER_UNAVAILABLE";
}

/** The claims that the service uses besides the subject (OpenID Connect Core §5.1). The provider can send any value. */
export interface IdentityClaims {
  readonly email: unknown;
  readonly emailVerified: unknown;
  readonly preferredUsername: unknown;
}

export interface Provider {
  readonly settings: OidcProvider;
  /** @throws ProviderUnavailable */
  authorizationUrl(request: {
    redirectUri: string;
    challenge: string;
    state: string;
    nonce: string;
  }): Promise<string>;
  /**
   * Exchanges the code. Returns the subject, and a function that returns the other claims.
   * @param response what the application received from the provider, and what it kept since the options
   * @throws ProviderUnavailable, or another error if the provider or the checks of its response reject the login
   */
  redeem(response: {
    code: string;
    state: string;
    iss: string | undefined;
    verifier: string;
    nonce: string;
    redirectUri: string;
  }): Promise<{ subject: string; readClaims(): Promise<IdentityClaims> }>;
}

/** Of each request. */
const TIMEOUT_MS = 5_000;
/** Of the four requests that a login can need. Less than the default timeout of the client, which then receives the 503. */
const LOGIN_TIMEOUT_MS = 8_000;
const TOO_SLOW = "The provider did not respond to all requests in time";
const MAX_RESPONSE_BYTES = 1024 * 1024;
const CACHE_MS = 60 * 60 * 1000;

/** Reads the whole response, so that the time and the size of its body are bounded as well. */
const boundedFetch: oidc.CustomFetch = async (url, { method, headers, body, redirect }) => {
  const signal = AbortSignal.timeout(TIMEOUT_MS);
  try {
    const response = await fetch(url, { method, headers, body: body ?? null, redirect, signal });
    if (response.status >= 500)
      throw new ProviderUnavailable(`The provider responded with ${response.status}`);
    const content = await readBounded(response);
    return new Response(content, { status: response.status, headers: response.headers });
  } catch (error) {
    if (error instanceof ProviderUnavailable) throw error;
    throw new ProviderUnavailable("The provider did not respond", { cause: error });
  }
};

async function readBounded({ body, status }: Response): Promise<Buffer<ArrayBuffer> | null> {
  if (body === null || status === 204) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // Leaving the loop cancels the rest of the response.
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES)
      throw new ProviderUnavailable("The response of the provider is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Finds an error of `boundedFetch`, which the library can have wrapped. */
function expectAvailable(error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderUnavailable) throw cause;
}

/** The library recommends Basic, which every provider must support unless its metadata names others (RFC 8414 §2). */
const authenticationOf = (methods: readonly string[] = ["client_secret_basic"]) =>
  methods.includes("client_secret_basic") ? oidc.ClientSecretBasic : oidc.ClientSecretPost;

/** OpenID Connect Core §2: at most 255 ASCII characters. A longer one, or U+0000, cannot be stored in every database. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** The endpoints without which nobody can log in. */
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
const isEndpoint = (url: unknown, isLocal: boolean): boolean =>
  typeof url === "string" && URL.canParse(url) && (/^https:/i.test(url) || (isLocal && /^http:/i.test(url)));

async function discover({ issuer, clientId, clientSecret }: OidcProvider): Promise<oidc.Configuration> {
  const isLocal = !leavesMachine(issuer);
  try {
    const found = await oidc.discovery(new URL(issuer), clientId, clientSecret, undefined, {
      [oidc.customFetch]: boundedFetch,
      timeout: TIMEOUT_MS / 1000,
      execute: isLocal ? [oidc.allowInsecureRequests] : [],
    });
    const metadata = found.serverMetadata();
    // The library accepts another form of the same URL. Identities are stored with the configured issuer.
    if (metadata.issuer !== issuer)
      throw new Error("The issuer of the metadata differs from the configured one");
    const missing = ENDPOINTS.find((name) => !isEndpoint(metadata[name], isLocal));
    if (missing !== undefined) throw new Error(`The metadata has no valid ${missing}`);
    const authenticate = authenticationOf(metadata.token_endpoint_auth_methods_supported);
    const authentication = authenticate(clientSecret);
    const configuration = new oidc.Configuration(metadata, clientId, clientSecret, authentication);
    configuration[oidc.customFetch] = boundedFetch;
    configuration.timeout = TIMEOUT_MS / 1000;
    if (isLocal) oidc.allowInsecureRequests(configuration);
    // Without this, the library trusts the TLS connection to the provider and does not verify the signature of ID tokens.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  } catch (error) {
    expectAvailable(error);
    throw new ProviderUnavailable("The metadata of the provider is not valid", { cause: error });
  }
}

export function openProvider(settings: OidcProvider, now: () => number = Date.now): Provider {
  let cached: { readonly configuration: Promise<oidc.Configuration>; readonly until: number } | null = null;

  const configure = (): Promise<oidc.Configuration> => {
    if (cached !== null && now() < cached.until) return cached.configuration;
    const configuration = discover(settings);
    const entry = { configuration, until: now() + CACHE_MS };
    cached = entry;
    // An error is not cached: the next login tries again.
    configuration.catch(() => {
      if (cached === entry) cached = null;
    });
    return configuration;
  };

  return {
    settings,
    async authorizationUrl({ redirectUri, challenge, state, nonce }) {
      const url = oidc.buildAuthorizationUrl(await configure(), {
        ...{ redirect_uri: redirectUri, scope: settings.scope, state, nonce },
        ...{ code_challenge: challenge, code_challenge_method: "S256" },
      });
      return url.href;
    },
    async redeem({ code, state, iss, verifier, nonce, redirectUri }) {
      const deadline = performance.now() + LOGIN_TIMEOUT_MS;
      const inTime = <Value>(work: Promise<Value>): Promise<Value> =>
        withTimeout(work, Math.max(deadline - performance.now(), 1), () => new ProviderUnavailable(TOO_SLOW));
      const configuration = await inTime(configure());
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries({ code, state, iss }))
        if (value !== undefined) url.searchParams.set(name, value);
      try {
        const grant = oidc.authorizationCodeGrant(configuration, url, {
          ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
          idTokenExpected: true,
        });
        const tokens = await inTime(grant);
        const claims = tokens.claims();
        if (!claims) throw new Error("The response has no ID token");
        const { sub: subject, azp } = claims;
        if (azp !== undefined && azp !== settings.clientId)
          throw new Error("The ID token is for another client");
        if (!SUBJECT.test(subject)) throw new Error("The subject of the ID token is not valid");
        const readClaims = async (): Promise<IdentityClaims> => {
          const source =
            claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
              ? await oidc.fetchUserInfo(configuration, tokens.access_token, subject)
              : claims;
          const { email, email_verified: emailVerified, preferred_username: preferredUsername } = source;
          return { email, emailVerified, preferredUsername };
        };
        return { subject, readClaims: () => inTime(readClaims()).catch(rejectUnavailable) };
      } catch (error) {
        return rejectUnavailable(error);
      }
    },
  };
}

/** @throws ProviderUnavailable if the provider did not respond, otherwise the error */
function rejectUnavailable(error: unknown): never {
  expectAvailable(error);
  throw error;
}
