/** Which redirect URIs of an application a request may name (RFC 6749 §3.1.2.3, RFC 8252 §7.3). */

/** An application on the user's machine, which listens on a port that the system chooses. */
const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\])(:[1-9]\d{0,4})?(?=[/?]|$)/;

/** Returns the URI without the port; null if its host is not a loopback address. */
const withoutPort = (uri: string): string | null => {
  const [start, port = ""] = LOOPBACK.exec(uri) ?? [];
  if (start === undefined || !URL.canParse(uri)) return null;
  return start.slice(0, start.length - port.length) + uri.slice(start.length);
};

/** Whether `uri` is one of `configured`, character by character, except the port at a loopback address. */
export function isRedirectUriOf(configured: readonly string[], uri: string): boolean {
  if (configured.includes(uri)) return true;
  const address = withoutPort(uri);
  return address !== null && configured.some((one) => withoutPort(one) === address);
}
