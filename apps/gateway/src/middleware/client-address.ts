/**
 * Determines the client address of a request: the address of the peer, or the entry that a trusted proxy added to
 * `X-Forwarded-For`. Requests that can write run with a `Caller`, which contains the client. The embedded database takes turns
 * between clients, so no client can delay the writes of all other clients.
 */
import { isIP } from "node:net";
import { callers } from "@latchkey/database";
import { Elysia } from "elysia";
import ipaddr from "ipaddr.js";
import { requestEntry } from "../elysia/request-entry.ts";
import type { Logger } from "../observability/logger.ts";
import type { Paths } from "./access-log.ts";

interface ClientAddressOptions {
  /**
   * Number of proxies that append to `X-Forwarded-For`. The client address is the entry at this position from the right. With 0, the
   * header is ignored with a warning; with null, without one.
   */
  readonly trustProxy: number | null;
  readonly logger: Logger;
  /** GET requests to these paths need no address. Reading the address costs more than responding to a probe. */
  readonly silentPaths: Paths;
  /** Hooks call this because reading `server` makes Elysia define an accessor per request (4 % of the CPU time of `/healthz`). */
  readonly peerAddress: (request: Request) => string | undefined;
}

export function clientAddress({ trustProxy, logger, silentPaths, peerAddress }: ClientAddressOptions) {
  let warned = trustProxy !== 0;
  const middleware = new Elysia({ name: "client-address" }).use(requestEntry()).onRequest((context) => {
    const { entry, request } = context;
    if (request.method === "GET" && silentPaths.has(entry.matchedPath)) return;
    const forwarded = request.headers.get("x-forwarded-for");
    if (forwarded !== null && !warned) {
      warned = true;
      logger.warn(
        "X-Forwarded-For is ignored: set TRUST_PROXY to the number of proxies in front of the service",
      );
    }
    const trusted = forwarded !== null && trustProxy ? forwardedAddress(forwarded, trustProxy) : null;
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

/** Returns the `place`-th entry from the right, or null if this entry does not exist or is not an IP address. */
export function forwardedAddress(header: string, place: number): string | null {
  const entry = header.split(",").at(-place)?.trim() ?? "";
  const address = entry.startsWith("[")
    ? entry.replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    : entry.replace(/^([^:]*):\d+$/, "$1");
  return isIP(address) ? address : null;
}

/** Converts IPv4-mapped IPv6 addresses (RFC 4291 §2.5.5.2) to IPv4, and removes zones from IPv6 addresses. */
function normalizeAddress(address: string): string {
  return address.includes(":") ? ipaddr.process(address.replace(/%.*$/, "")).toString() : address;
}

/** Returns the rate-limit key of a client: an IPv4 address, or an IPv6 /64 (usually one subscriber, RFC 6177). */
export function clientKey(address: string): string {
  if (!address.includes(":")) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}
