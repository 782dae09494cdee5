/** How a kind of provider is asked, and what it answers. */

/** The claims that the service uses besides the subject (OpenID Connect Core §5.1). The provider can send any value. */
export interface IdentityClaims {
  readonly email: unknown;
  readonly emailVerified: unknown;
  readonly preferredUsername: unknown;
}

export interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly challenge: string;
  readonly state: string;
  readonly nonce: string;
}

/** What the application received from the provider, and what it kept since the options. */
export interface AuthorizationResponse {
  readonly code: string;
  readonly state: string;
  readonly iss: string | undefined;
  readonly verifier: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export interface RedeemedCode {
  readonly subject: string;
  readClaims(): Promise<IdentityClaims>;
}

/** @throws ProviderUnavailable if `work` takes longer than what is left for this login */
export type InTime = <Value>(work: Promise<Value>) => Promise<Value>;

/** How a kind of provider is asked. */
export interface ProviderClient {
  authorizationUrl(request: AuthorizationRequest): Promise<string>;
  redeem(response: AuthorizationResponse, inTime: InTime): Promise<RedeemedCode>;
}
