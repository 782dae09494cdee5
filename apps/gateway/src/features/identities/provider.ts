/**
 * An OpenID Connect provider: its metadata, its authorization page, and the claims about the user of an authorization code. Every
 * response is bounded, see `provider-responses.ts`. Nothing is requested before the first login. Parallel logins share the requests
 * for metadata and keys, and if one of these fails, the provider is asked again after a second at the earliest.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { leavesMachine, type OidcProvider } from "@latchkey/config";
import { withTimeout } from "@latchkey/database";
import * as oidc from "openid-client";
import { createOutage, type Outage } from "./outage.ts";
import { boundedFetch, isKeySet, ProviderUnavailable, TIMEOUT_MS } from "./provider-responses.ts";

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

/** Of the four requests that a login can need. Less than the default timeout of the client, which then receives the 503. */
const LOGIN_TIMEOUT_MS = 8_000;
const TOO_SLOW = "The provider did not respond to all requests in time";
const CACHE_MS = 60 * 60 * 1000;

/** Finds an error of `boundedFetch`, which the library can have wrapped. */
function expectAvailable(error: unknown): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderUnavailable) throw cause;
}

/** Many providers do not decode the credentials of Basic, so it is used only if the metadata lists it and not the other. */
function authenticationOf(
  configured: OidcProvider["tokenEndpointAuthMethod"],
  supported: readonly string[] = [],
) {
  const isBasicOnly = supported.includes("client_secret_basic") && !supported.includes("client_secret_post");
  const method = configured ?? (isBasicOnly ? "client_secret_basic" : "client_secret_post");
  return method === "client_secret_basic" ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
}

const CLOCK_TOLERANCE_SECONDS = 60;
const printable = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").slice(0, 200);

/** @throws ProviderUnavailable if the token endpoint rejects the client itself, which no user can correct */
function expectClientAccepted(error: unknown, { name }: OidcProvider): void {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (!(cause instanceof oidc.ResponseBodyError) || cause.error !== "invalid_client") continue;
    const description = printable(cause.error_description ?? "no description");
    throw new ProviderUnavailable(`The provider ${name} responded with invalid_client: ${description}`);
  }
}

/** OpenID Connect Core §2: at most 255 ASCII characters. A longer one, or U+0000, cannot be stored in every database. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** Some providers send null instead of leaving a claim out. */
const isIncomplete = ({ email, email_verified }: Readonly<Record<string, unknown>>): boolean =>
  (email ?? null) === null || (email_verified ?? null) === null;

/** The exchange of one login's code. The answer of the token endpoint is kept, because a code works once. */
interface Exchange {
  answer: { readonly text: string; readonly ok: boolean; readonly init: ResponseInit } | null;
}
const exchanges = new AsyncLocalStorage<Exchange>();
const KEY_REFRESH_MS = 60_000;
/** How the library reports a signature that no key verifies. Claims that a user can influence have other codes. */
const SIGNATURE_ERRORS = new Set(["OAUTH_KEY_SELECTION_FAILED", "OAUTH_INVALID_RESPONSE"]);
function isSignatureError(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if ("code" in cause && typeof cause.code === "string" && SIGNATURE_ERRORS.has(cause.code)) return true;
  return false;
}
async function exchangeOnce(...request: Parameters<oidc.CustomFetch>): Promise<Response> {
  const exchange = exchanges.getStore();
  if (!exchange || request[1].method !== "POST") return boundedFetch(...request);
  if (exchange.answer === null) {
    const response = await boundedFetch(...request);
    const { ok, status, headers } = response;
    exchange.answer = { text: await response.text(), ok, init: { status, headers } };
  }
  return new Response(exchange.answer.text, exchange.answer.init);
}

/** The endpoints without which nobody can log in. */
const ENDPOINTS = ["authorization_endpoint", "token_endpoint", "jwks_uri"] as const;
const isEndpoint = (url: unknown, isLocal: boolean): boolean =>
  typeof url === "string" && URL.canParse(url) && (/^https:/i.test(url) || (isLocal && /^http:/i.test(url)));

/** Fetches the keys once for all logins that need them at the same time. No user has an influence on this response. */
function sharedKeysFetch(keysUrl: string, outage: Outage): oidc.CustomFetch {
  let pending: Promise<string> | null = null;
  const readKeys = async (...request: Parameters<oidc.CustomFetch>): Promise<string> => {
    const response = await boundedFetch(...request);
    const content = await response.text();
    if (response.status !== 200 || !isKeySet(content))
      throw new ProviderUnavailable("The keys of the provider are not valid");
    return content;
  };
  return async (url, options) => {
    if (url !== keysUrl || options.method !== "GET") return exchangeOnce(url, options);
    pending ??= outage
      .watch(() => readKeys(url, options))
      .finally(() => {
        pending = null;
      });
    return new Response(await pending, { headers: { "content-type": "application/json" } });
  };
}

async function discover(
  { issuer, clientId, clientSecret, tokenEndpointAuthMethod }: OidcProvider,
  outage: Outage,
): Promise<oidc.Configuration> {
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
    const methods = metadata.token_endpoint_auth_methods_supported;
    const authentication = authenticationOf(tokenEndpointAuthMethod, methods)(clientSecret);
    const client = { client_secret: clientSecret, [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const configuration = new oidc.Configuration(metadata, clientId, client, authentication);
    configuration[oidc.customFetch] = sharedKeysFetch(new URL(String(metadata.jwks_uri)).href, outage);
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

  const outage = createOutage(now);

  const configure = (): Promise<oidc.Configuration> => {
    if (cached !== null && now() < cached.until) return cached.configuration;
    const configuration = outage.watch(() => discover(settings, outage));
    const entry = { configuration, until: now() + CACHE_MS };
    cached = entry;
    configuration.catch(() => {
      if (cached === entry) cached = null;
    });
    return configuration;
  };

  let refreshedAt: number | null = null;
  /** Returns newer keys than those of `used`, or null if they were fetched again less than a minute ago. */
  const refresh = async (used: oidc.Configuration): Promise<oidc.Configuration | null> => {
    const current = await configure();
    if (current !== used) return current;
    const elapsedMs = refreshedAt === null ? KEY_REFRESH_MS : now() - refreshedAt;
    if (elapsedMs >= 0 && elapsedMs < KEY_REFRESH_MS) return null;
    refreshedAt = now();
    cached = null;
    return configure();
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
      let configuration = await inTime(configure());
      // Before the code is sent, because a code works once.
      outage.expectOver();
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries({ code, state, iss }))
        if (value !== undefined) url.searchParams.set(name, value);
      try {
        const exchange: Exchange = { answer: null };
        const grant = (keys: oidc.Configuration) =>
          exchanges.run(exchange, () =>
            oidc.authorizationCodeGrant(keys, url, {
              ...{ pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce },
              idTokenExpected: true,
            }),
          );
        const tokens = await inTime(grant(configuration)).catch(async (error: unknown) => {
          const isRefreshable = exchange.answer?.ok === true && isSignatureError(error);
          const refreshed = isRefreshable ? await inTime(refresh(configuration)) : null;
          if (refreshed === null) throw error;
          configuration = refreshed;
          return inTime(grant(configuration));
        });
        const claims = tokens.claims();
        if (!claims) throw new Error("The response has no ID token");
        const { sub: subject, azp } = claims;
        if (azp !== undefined && azp !== settings.clientId)
          throw new Error("The ID token is for another client");
        if (!SUBJECT.test(subject)) throw new Error("The subject of the ID token is not valid");
        const readClaims = async (): Promise<IdentityClaims> => {
          const source =
            isIncomplete(claims) && configuration.serverMetadata().userinfo_endpoint !== undefined
              ? await oidc.fetchUserInfo(configuration, tokens.access_token, subject)
              : claims;
          const { email, email_verified: emailVerified, preferred_username: preferredUsername } = source;
          return { email, emailVerified, preferredUsername };
        };
        return { subject, readClaims: () => inTime(readClaims()).catch(rejectUnavailable) };
      } catch (error) {
        expectClientAccepted(error, settings);
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
