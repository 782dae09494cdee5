/** Determines where an address or URL leads, only from its text. No host name is resolved. */
import { isIP, isIPv6 } from "node:net";
import ipaddr from "ipaddr.js";

/** Loopback, private, link-local and shared addresses (RFC 6890). */
const LOCAL_RANGES = ["loopback", "private", "uniqueLocal", "linkLocal", "carrierGradeNat"];

/** Whether `host` is a global address or stands for all interfaces. A host name is not resolved and counts as not public. */
export const isPublicAddress = (host: string): boolean =>
  isIP(host) !== 0 && !LOCAL_RANGES.includes(ipaddr.process(host).range());

/** Returns an http URL that a browser on this machine can open, for an address on which a server listens. */
export function localUrl(host: string, port: number | undefined): string {
  const isUnspecified = isIP(host) !== 0 && ipaddr.process(host).range() === "unspecified";
  const loopback = isIPv6(host) ? "::1" : "127.0.0.1";
  const reachable = isUnspecified ? loopback : host;
  return `http://${isIPv6(reachable) ? `[${reachable}]` : reachable}:${port}`;
}

/** Returns the host of a URL, without the brackets of an IPv6 address. Returns an empty text if `url` is not a URL. */
export const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";

/** Whether a connection to the host of `url` leaves this machine. */
export function leavesMachine(url: string): boolean {
  const host = hostOf(url);
  const isLoopback =
    isIP(host) === 0 ? /^(.+\.)?localhost\.?$/i.test(host) : ipaddr.process(host).range() === "loopback";
  return host !== "" && !isLoopback;
}
