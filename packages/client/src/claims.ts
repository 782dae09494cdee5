/** The times in a token, in seconds of the service's clock (RFC 7519 §4.1). The client does not verify tokens. */

type TimeClaims = { readonly [Name in "iat" | "exp" | "auth_time"]?: number };

/** Returns the times in a JWT (RFC 7519 §4.1), or an empty object if `token` is not a JWT. */
export function readClaims(token = ""): TimeClaims {
  const [, payload = ""] = token.split(".");
  const members = readObject(() => atob(payload.replaceAll("-", "+").replaceAll("_", "/")));
  return Object.fromEntries(Object.entries(members).filter(([, value]) => typeof value === "number"));
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
