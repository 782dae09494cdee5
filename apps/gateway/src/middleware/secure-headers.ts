/** Response headers that narrow what a browser may do with an answer. On every answer; the document pages widen theirs. */
import { Elysia } from "elysia";

/** What the answers of an API need: nothing is loaded, nothing frames it. */
const API_POLICY = "default-src 'none'; frame-ancestors 'none'";
const ONE_YEAR_SECONDS = 31_536_000;

/** Header values follow the OWASP REST Security Cheat Sheet; `secureTransport` adds HSTS (RFC 6797). */
export function secureHeaders({ secureTransport }: { readonly secureTransport: boolean }) {
  return new Elysia({ name: "security-headers" }).headers({
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
}
