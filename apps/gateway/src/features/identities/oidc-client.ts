/**
 * OpenID Connect: metadata, keys, and the claims of ID tokens and user infos. Parallel logins share the requests for metadata and
 * keys, and if one of these fails, the provider is asked again after a second at the earliest.
 */
import { leavesMachine, type OidcProvider } from "@latchkey/config";
import * as oidc from "openid-client";
import { exchangeFetch, redeemOnce } from "./code-exchange.ts";
import { createOutage, type Outage } from "./outage.ts";
import type { IdentityClaims, ProviderClient } from "./provider-client.ts";
import {
  boundedFetch,
  causesOf,
  describeOauthError,
  findUnavailable,
  isKeySet,
  ProviderUnavailable,
  TIMEOUT_MS,
} from "./provider-responses.ts";

const CACHE_MS = 60 * 60 * 1000;

/** Many providers do not decode the credentials of Basic, so it is used only if the metadata lists it and not the other. */
function authenticationOf(
  configured: OidcProvider["tokenEndpointAuthMethod"],
  supported: readonly string[] = [],
) {
  const isBasicOnly = supported.includes("client_secret_basic") && !supported.includes("client_secret_post");
  const method = configured ?? (isBasicOnly ? "client_secret_basic" : "client_secret_post");
  return method === "client_secret_basic" ? oidc.ClientSecretBasic : oidc.ClientSecretPost;
}

/** The library needs to know how a user info is signed. Many providers only list how they sign ID tokens. */
const userInfoAlgorithmsOf = (metadata: oidc.ServerMetadata): string[] =>
  metadata.userinfo_signing_alg_values_supported ?? metadata.id_token_signing_alg_values_supported ?? [];

const CLOCK_TOLERANCE_SECONDS = 60;

/** The client is not known or not allowed, which no user can correct. Some providers answer a wrong secret with the second one. */
const CLIENT_ERRORS = new Set(["invalid_client", "unauthorized_client"]);

/** Returns the error that the token endpoint names, if it names one: the library's message does not. */
function explainError(error: unknown): unknown {
  const response = causesOf(error).find((cause) => cause instanceof oidc.ResponseBodyError);
  if (!response) return error;
  const named = describeOauthError(response.error, response.error_description);
  return CLIENT_ERRORS.has(response.error)
    ? new ProviderUnavailable(`The provider rejected this client${named}`)
    : new Error(`The provider rejected the code${named}`);
}

/** OpenID Connect Core §2: at most 255 ASCII characters. A longer one, or U+0000, cannot be stored in every database. */
const SUBJECT = /^[\x20-\x7e]{1,255}$/;

/** Some providers send null instead of leaving a claim out. */
const isIncomplete = ({ email, email_verified }: Claims): boolean =>
  (email ?? null) === null || (email_verified ?? null) === null;

type Claims = Readonly<Record<string, unknown>>;

/** The claims of the user info come first. An e-mail is never combined with the verification of another one. */
function merge(token: Claims, info: Claims): Claims {
  const email = info.email ?? token.email;
  const verified = email === token.email ? token.email_verified : undefined;
  return {
    email,
    email_verified: info.email_verified ?? verified,
    preferred_username: info.preferred_username ?? token.preferred_username,
  };
}

const KEY_REFRESH_MS = 60_000;

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
    if (url !== keysUrl || options.method !== "GET") return exchangeFetch(url, options);
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
    const metadata: oidc.ServerMetadata = found.serverMetadata();
    // The library accepts another form of the same URL. Identities are stored with the configured issuer.
    if (metadata.issuer !== issuer)
      throw new Error("The issuer of the metadata differs from the configured one");
    const missing = ENDPOINTS.find((name) => !isEndpoint(metadata[name], isLocal));
    if (missing !== undefined) throw new Error(`The metadata has no valid ${missing}`);
    const methods = metadata.token_endpoint_auth_methods_supported;
    const authentication = authenticationOf(tokenEndpointAuthMethod, methods)(clientSecret);
    const client = { client_secret: clientSecret, [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS };
    const configuration = new oidc.Configuration(
      { ...metadata, userinfo_signing_alg_values_supported: userInfoAlgorithmsOf(metadata) },
      clientId,
      client,
      authentication,
    );
    configuration[oidc.customFetch] = sharedKeysFetch(new URL(String(metadata.jwks_uri)).href, outage);
    configuration.timeout = TIMEOUT_MS / 1000;
    if (isLocal) oidc.allowInsecureRequests(configuration);
    // Without this, the library trusts the TLS connection to the provider and does not verify the signature of ID tokens.
    oidc.enableNonRepudiationChecks(configuration);
    return configuration;
  } catch (error) {
    throw (
      findUnavailable(error) ??
      new ProviderUnavailable("The metadata of the provider is not valid", { cause: error })
    );
  }
}

export function createOidcClient(settings: OidcProvider, now: () => number): ProviderClient {
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
    async authorizationUrl({ redirectUri, challenge, state, nonce }) {
      const url = oidc.buildAuthorizationUrl(await configure(), {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state,
        nonce,
        code_challenge: challenge,
        code_challenge_method: "S256",
      });
      return url.href;
    },
    async redeem({ code, state, iss, verifier, nonce, redirectUri }, inTime) {
      const configuration = await inTime(configure());
      // Before the code is sent, because a code works once.
      outage.expectOver();
      const url = new URL(redirectUri);
      for (const [name, value] of Object.entries({ code, state, iss }))
        if (value !== undefined) url.searchParams.set(name, value);
      try {
        const grant = (keys: oidc.Configuration) =>
          inTime(
            oidc.authorizationCodeGrant(keys, url, {
              pkceCodeVerifier: verifier,
              expectedState: state,
              expectedNonce: nonce,
              idTokenExpected: true,
            }),
          );
        const redeemed = await redeemOnce(configuration, grant, () => inTime(refresh(configuration)));
        const { keys, result: tokens } = redeemed;
        const claims = tokens.claims();
        if (!claims) throw new Error("The response has no ID token");
        const { sub: subject, azp } = claims;
        if (azp !== undefined && azp !== settings.clientId)
          throw new Error("The ID token is for another client");
        if (!SUBJECT.test(subject)) throw new Error("The subject of the ID token is not valid");
        const readClaims = async (): Promise<IdentityClaims> => {
          const source: Claims =
            isIncomplete(claims) && keys.serverMetadata().userinfo_endpoint !== undefined
              ? merge(claims, await oidc.fetchUserInfo(keys, tokens.access_token, subject))
              : claims;
          const { email, email_verified: emailVerified, preferred_username: preferredUsername } = source;
          return { email, emailVerified, preferredUsername };
        };
        return { subject, readClaims };
      } catch (error) {
        throw explainError(error);
      }
    },
  };
}
