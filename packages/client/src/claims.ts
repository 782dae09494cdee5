/** The times in a token, in seconds of the service's clock (RFC 7519 §4.1). The client does not verify tokens. */

type TimeClaims = { readonly [Name in "iat" | "exp" | "auth_time"]?: number };

/** Returns the times in a JWT (RFC 7519 §4.1), or an empty object if `token` is not a JWT. */
export const readClaims = (token?: string): TimeClaims =>
  Object.fromEntries(Object.entries(readPayload(token)).filter(([, value]) => typeof value === "number"));

function readPayload(token = ""): Readonly<Record<string, unknown>> {
  const [, payload = ""] = token.split(".");
  return readObject(() => atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
}

/** The id of the token's user; undefined if `token` is not a JWT. */
export const subjectOf = (token: string | undefined): unknown => readPayload(token).sub;

/** Whether renewals lead from one token to the other. All tokens of one login have the same user and `auth_time`. */
export function isSameLogin(token: string | undefined, other: string | undefined): boolean {
  const [{ sub, auth_time }, claims] = [readPayload(token), readPayload(other)];
  return auth_time !== undefined && auth_time === claims.auth_time && sub === claims.sub;
}

/** Returns the time of issue, but at most the local time. Another client can have received the token long ago. */
export const issuedAt = (token: string): number => Math.min(Date.now(), (readClaims(token).iat ?? 0) * 1000);

export function lifetimeMs(token: string | undefined): number {
  const { iat = 0, exp = 0 } = readClaims(token);
  return (exp - iat) * 1000;
}

/** Returns an empty object if the text is not a JSON object. */
export function readObject(read: () => string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(read());
    return typeof value === "object" ? { ...value } : {};
  } catch {
    return {};
  }
}
