/**
 * The client address of a request: the peer's, or the entry of `X-Forwarded-For` that the trusted proxies added. Requests
 * that can write run as a caller of the database, because one client must not delay the writes of all others.
 */
import { isIP } from "node:net";
import { callers } from "@latchkey/database";
import { Elysia } from "elysia";
import ipaddr from "ipaddr.js";
import { requestContext, withoutTrailingSlash } from "../elysia/request-context.ts";
import type { Logger } from "../observability/logger.ts";

interface ClientAddressOptions {
  /** Number of proxies that append to `X-Forwarded-For`; the client is the entry at this place from the right. */
  readonly trustProxy: number;
  readonly logger: Logger;
  /** GET requests of these paths need no address, and reading it would cost more than the response of a probe. */
  readonly skipLogging: (path: string) => boolean;
  /** If a hook read the server from its context, Elysia would define an accessor for each request: 4 % of `/healthz`. */
  readonly peerAddress: (request: Request) => string | undefined;
}

export function clientAddress({ trustProxy, logger, skipLogging, peerAddress }: ClientAddressOptions) {
  let warned = trustProxy > 0;
  const middleware = new Elysia({ name: "client-address" }).use(requestContext()).onRequest((context) => {
    const { entry, request } = context;
    if (request.method === "GET" && skipLogging(withoutTrailingSlash(entry.path))) return;
    const forwarded = request.headers.get("x-forwarded-for");
    if (forwarded !== null && !warned) {
      warned = true;
      logger.warn(
        "X-Forwarded-For is ignored: set TRUST_PROXY to the number of proxies in front of the service",
      );
    }
    const trusted = forwarded !== null && trustProxy > 0 ? forwardedAddress(forwarded, trustProxy) : null;
    const address = trusted ?? peerAddress(request);
    if (address !== undefined) entry.clientAddress = normalizeAddress(address);
    context.clientAddress = entry.clientAddress;
    const caller = callers.getStore();
    if (caller) caller.client = clientKey(entry.clientAddress);
  });
  return middleware.wrap((handle, { method }) =>
    method === "GET"
      ? handle
      : (...request: unknown[]) => callers.run({ client: "", queriedMs: 0 }, () => handle(...request)),
  );
}

/** The `place`-th entry from the right, or null if there are fewer entries or this one is not an address. */
export function forwardedAddress(header: string, place: number): string | null {
  const entry = header.split(",").at(-place)?.trim() ?? "";
  const address = entry.startsWith("[")
    ? entry.replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    : entry.replace(/^([^:]*):\d+$/, "$1");
  return isIP(address) ? address : null;
}

/** Converts IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) to IPv4, and removes the zone of other IPv6 addresses. */
function normalizeAddress(address: string): string {
  return address.includes(":") ? ipaddr.process(address.replace(/%.*$/, "")).toString() : address;
}

/** The rate-limit key of a client: an IPv4 address, or the /64 of an IPv6 address, usually one subscriber (RFC 6177). */
export function clientKey(address: string): string {
  if (!address.includes(":")) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}
