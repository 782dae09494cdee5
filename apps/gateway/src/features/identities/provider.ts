/**
 * A provider: its authorization page, and the claims about the user of an authorization code. Nothing is requested before the first
 * login. Every response is bounded, see `provider-responses.ts`.
 */
import type { OidcProvider } from "@latchkey/config";
import { withTimeout } from "@latchkey/database";
import { createGithubClient } from "./github-client.ts";
import { createOidcClient } from "./oidc-client.ts";
import type { AuthorizationRequest, AuthorizationResponse, InTime, RedeemedCode } from "./provider-client.ts";
import { findUnavailable, ProviderUnavailable } from "./provider-responses.ts";

export interface Provider {
  readonly settings: OidcProvider;
  /** @throws ProviderUnavailable */
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  /**
   * Exchanges the code. Returns the subject, and a function that returns the other claims.
   * @throws ProviderUnavailable, or another error if the provider or the checks of its response reject the login
   */
  redeem(response: AuthorizationResponse): Promise<RedeemedCode>;
}

/** Of the requests that a login can need. Less than the default timeout of the client, which then receives the 503. */
const LOGIN_TIMEOUT_MS = 8_000;
const TOO_SLOW = "The provider did not respond to all requests in time";

export function openProvider(settings: OidcProvider, now: () => number = Date.now): Provider {
  const createClient = settings.type === "github" ? createGithubClient : createOidcClient;
  const client = createClient(settings, now);

  /** @throws ProviderUnavailable with the name of the provider, otherwise the error */
  const reject = (error: unknown): never => {
    const unavailable = findUnavailable(error);
    if (!unavailable) throw error;
    throw new ProviderUnavailable(`${settings.name}: ${unavailable.message}`, { cause: unavailable.cause });
  };

  return {
    settings,
    authorizationUrl: (request) => client.authorizationUrl(request).catch(reject),
    async redeem(response) {
      const deadline = performance.now() + LOGIN_TIMEOUT_MS;
      const inTime: InTime = (work) =>
        withTimeout(work, Math.max(deadline - performance.now(), 1), () => new ProviderUnavailable(TOO_SLOW));
      const { subject, readClaims } = await client.redeem(response, inTime).catch(reject);
      return { subject, readClaims: () => inTime(readClaims()).catch(reject) };
    },
  };
}
