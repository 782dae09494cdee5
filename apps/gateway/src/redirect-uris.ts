/** Which redirect URIs of an application a request may name (RFC 6749 §3.1.2.3, RFC 8252 §7.3). */

/** An application on the user's machine, which listens on a port that the system chooses. */
const LOOPBACK = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::([1-9]\d{0,4}))?(?=[/?]|$)/;

/** Returns the port of a loopback address; undefined if it has none, or the host is another one. */
export const portOf = (uri: string): string | undefined => LOOPBACK.exec(uri)?.[2];

/** @param uri has a loopback address */
export const withPort = (uri: string, port: string): string => uri.replace(LOOPBACK, `$1:${port}`);

/** Returns the configured URI that `uri` equals, character by character, except the port at a loopback address. */
export function findRedirectUri(configured: readonly string[], uri: string): string | undefined {
  if (configured.includes(uri)) return uri;
  if (!LOOPBACK.test(uri) || !URL.canParse(uri)) return undefined;
  return configured.find((one) => LOOPBACK.test(one) && withPort(one, "1") === withPort(uri, "1"));
}
