/** The claims about a login: how a user logged in, with how many factors, and when. */

/**
 * The values of the claim `amr` (RFC 8176, which names no provider): of each way to log in alone, with a code of the second factor, and
 * with a recovery code. A passkey proves the possession of a key and the presence of the user.
 */
export const AUTHENTICATION_METHODS = [
  ...([["pwd"], ["pwd", "otp", "mfa"], ["pwd", "mfa"]] as const),
  ...([["pop", "user"]] as const),
  ...([["otp"], ["otp", "mfa"]] as const),
];
export type AuthenticationMethods = (typeof AUTHENTICATION_METHODS)[number];

/** The class of a login, the claim `acr`: our own names, which claim no level of NIST. */
export const AUTHENTICATION_CLASSES = ["1fa", "2fa"] as const;
export type AuthenticationClass = (typeof AUTHENTICATION_CLASSES)[number];

/** The claims about a login. Renewed tokens keep these claims. */
export interface LoginClaims {
  /**
   * The time of the login, in seconds since the epoch; absent after a login with a password if neither renewal nor second factors nor
   * hosted login is on.
   */
  readonly auth_time?: number;
  /** The methods of the login; absent if passkeys and second factors are off. */
  readonly amr?: AuthenticationMethods;
  /** Whether the login had two factors; absent if second factors are off. */
  readonly acr?: AuthenticationClass;
}

/**
 * Returns the methods of a login that a code completed. Returns undefined for a provider, whose method RFC 8176 does not name.
 * @param isRecovery whether a recovery code replaced the code of the application
 */
export const withSecondFactor = (
  methods: AuthenticationMethods | undefined,
  isRecovery: boolean,
): AuthenticationMethods | undefined => {
  const [first] = methods ?? [];
  if (first === undefined || first === "pop") return methods;
  return isRecovery || first === "otp" ? [first, "mfa"] : [first, "otp", "mfa"];
};
