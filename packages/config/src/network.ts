/** Where an address or URL leads, decided from its text alone: no name is resolved. */
import { BlockList, isIP } from "node:net";

const LOOPBACK = ["127.0.0.0/8", "::1/128"];
/** Private, link-local and shared addresses (RFC 6890). */
const PRIVATE = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "fc00::/7",
  "fe80::/10",
];

function listOf(subnets: readonly string[]): BlockList {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", bits] = subnet.split("/");
    list.addSubnet(address, Number(bits), familyOf(address));
  }
  return list;
}

const familyOf = (address: string) => (isIP(address) === 6 ? "ipv6" : "ipv4");
const loopbackAddresses = listOf(LOOPBACK);
const localAddresses = listOf([...LOOPBACK, ...PRIVATE]);

/** Whether it is all interfaces or a global address. A host name is not resolved and counts as not public. */
export const isPublicAddress = (host: string): boolean =>
  isIP(host) !== 0 && !localAddresses.check(host, familyOf(host));

/** Whether a connection to the host of `url` leaves this machine. */
export function leavesMachine(url: string): boolean {
  const host = URL.parse(url)?.hostname.replace(/^\[|\]$/g, "") ?? "";
  const isLoopback =
    isIP(host) === 0 ? /^(.+\.)?localhost\.?$/i.test(host) : loopbackAddresses.check(host, familyOf(host));
  return host !== "" && !isLoopback;
}
