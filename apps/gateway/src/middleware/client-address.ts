/** Whose request this is: the peer's address, or the entry of `X-Forwarded-For` that the trusted proxies vouch for. */
import { isIP } from "node:net";
import { Elysia } from "elysia";
import ipaddr from "ipaddr.js";
import type { Logger } from "../observability/logger.ts";
import { type RequestPath, requestContext, withoutTrailingSlash } from "./request-context.ts";

export interface ClientAddressOptions {
  /** How many proxies in front append to `X-Forwarded-For`; the entry that many places from the right is the client. */
  readonly trustProxy: number;
  readonly logger: Logger;
  /** Paths whose reads nobody asks the address of: finding it is dear beside a probe's own work. */
  readonly skipLogging: (path: string) => boolean;
}

export function clientAddress({ trustProxy, logger, skipLogging }: ClientAddressOptions) {
  let warned = trustProxy > 0;
  return new Elysia({ name: "client-address" }).use(requestContext()).onRequest((context) => {
    const { path } = context as typeof context & RequestPath;
    if (context.request.method === "GET" && skipLogging(withoutTrailingSlash(path))) return;
    const forwarded = context.request.headers.get("x-forwarded-for");
    if (forwarded !== null && !warned) {
      warned = true;
      logger.warn("X-Forwarded-For is ignored: set TRUST_PROXY to the number of proxies in front");
    }
    const vouched = forwarded !== null && trustProxy > 0 ? forwardedAddress(forwarded, trustProxy) : null;
    const peer = vouched ?? context.server?.requestIP(context.request)?.address;
    if (peer !== undefined) context.clientAddress = plainAddress(peer);
  });
}

/** The `place`-th address from the right, or null if there are fewer entries or that one is no address. */
export function forwardedAddress(header: string, place: number): string | null {
  const entry = header.split(",").at(-place)?.trim() ?? "";
  const address = entry.startsWith("[")
    ? entry.replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    : entry.replace(/^([^:]*):\d+$/, "$1");
  return isIP(address) ? address : null;
}

/** IPv4-mapped IPv6 (RFC 4291 §2.5.5.2) written as IPv4, other IPv6 without a zone; anything else as it is. */
function plainAddress(address: string): string {
  return address.includes(":") ? ipaddr.process(address.replace(/%.*$/, "")).toString() : address;
}

/** What a client is counted by: IPv4 alone, IPv6 by its /64, which one subscriber commonly holds (RFC 6177). */
export function clientKey(address: string): string {
  if (!address.includes(":")) return address;
  return ipaddr.IPv6.networkAddressFromCIDR(`${address}/64`).toString();
}
