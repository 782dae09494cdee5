/** The security headers of every response. The documentation pages override `content-security-policy`. */

/** API responses load nothing and must not be framed. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const ONE_YEAR_SECONDS = 31_536_000;

/** Header values follow the OWASP REST Security Cheat Sheet; `secureTransport` adds HSTS (RFC 6797). */
export const secureHeaders = ({ secureTransport }: { readonly secureTransport: boolean }) => ({
  "cache-control": "no-store",
  "content-security-policy": API_POLICY,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  ...(secureTransport && { "strict-transport-security": `max-age=${ONE_YEAR_SECONDS}; includeSubDomains` }),
});
