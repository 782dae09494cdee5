/** The client address: which entry of X-Forwarded-For is used, and how addresses are grouped for rate limits. */
import { expect, test } from "bun:test";
import { clientKey, forwardedAddress } from "../../src/middleware/client-address.ts";
import { type Service, startService } from "../support/service.ts";

const rejected = (header: string) => [header, 1, null] as const;

test.each([
  ["192.0.2.1", 1, "192.0.2.1"],
  ["198.51.100.9, 192.0.2.1", 1, "192.0.2.1"],
  ["198.51.100.9, 192.0.2.1", 2, "198.51.100.9"],
  ["1.1.1.1,2.2.2.2,\t3.3.3.3 ", 3, "1.1.1.1"],
  ["192.0.2.1:8080", 1, "192.0.2.1"],
  ["[2001:db8::1]", 1, "2001:db8::1"],
  ["[2001:db8::1]:443", 1, "2001:db8::1"],
  ["2001:db8::1", 1, "2001:db8::1"],
  ["junk, 192.0.2.1", 1, "192.0.2.1"],
  ["192.0.2.1", 2, null],
  ...["", ",", "192.0.2.1,", "192.0.2.1, junk", "192.0.2.1, unknown", "192.0.2.1 198.51.100.9"].map(rejected),
  ...["192.0.2.256", "192.0.2", "3221225985", "0x7f.0.0.1", "localhost", "__proto__"].map(rejected),
  ...["[2001:db8::1", "2001:db8::1]:443", "2001:db8::g"].map(rejected),
] as const)("in %p, the entry at place %i from the right is the address %p", (header, place, address) => {
  expect(forwardedAddress(header, place)).toBe(address);
});

test.each([
  ["192.0.2.1", "192.0.2.1"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
  ["2001:db8:1:2::", "2001:db8:1:2::"],
  ["2001:0DB8:0001:0002:ffff::", "2001:db8:1:2::"],
  ["::1", "::"],
])("the address %s is counted as %s", (address, key) => {
  expect(clientKey(address).replace(/(:0)+$/, "::")).toBe(key);
});

/** The client address that the service logs for a request with these header lines. */
async function addressOf(service: Service, ...forwarded: string[]): Promise<unknown> {
  const id = crypto.randomUUID();
  const lines = ["GET /todos HTTP/1.1", "Host: x", `X-Request-ID: ${id}`, "Connection: close"];
  const response = await service.raw(
    [...lines, ...forwarded.map((value) => `X-Forwarded-For: ${value}`), "", ""].join("\r\n"),
  );
  expect(response).toStartWith("HTTP/1.1 200");
  // The log line follows the response, at the latest by the end of another request.
  await service.request("/healthz");
  return service.log.find(({ request_id }) => request_id === id)?.client_address;
}

const PEER = "127.0.0.1";

test("with two trusted proxies the client is the second entry from the right, over any number of header lines, otherwise the peer", async () => {
  await using service = await startService({ env: { TRUST_PROXY: "2" } });
  expect(await addressOf(service, "9.9.9.9, 192.0.2.1, 10.0.0.1")).toBe("192.0.2.1");
  expect(await addressOf(service, "9.9.9.9", "192.0.2.1", "10.0.0.1")).toBe("192.0.2.1");
  expect(await addressOf(service, "9.9.9.9, 192.0.2.1", "10.0.0.1")).toBe("192.0.2.1");
  expect(await addressOf(service)).toBe(PEER);
  expect(await addressOf(service, "192.0.2.1")).toBe(PEER);
  expect(await addressOf(service, "unknown, 10.0.0.1")).toBe(PEER);
});

test("every spelling of an IPv4-mapped address is IPv4, zones are removed, and hostile entries never cause a 5xx", async () => {
  await using service = await startService({ env: { TRUST_PROXY: "1" } });
  for (const mapped of ["[::FFFF:192.0.2.1]:80", "::ffff:c000:201", "::ffff:192.0.2.1%lo"]) {
    expect(await addressOf(service, mapped)).toBe("192.0.2.1");
  }
  for (const zone of ["%eth0", "%br-lan", "%eth0.1"]) {
    expect(await addressOf(service, `fe80::1${zone}`)).toBe("fe80::1");
  }
  const hostile = ["%", "::%", "::1%-", "[]", "[]:1", "::::", "1.2.3.4:", "a".repeat(4_000), ",".repeat(500)];
  for (const entry of hostile) expect(await addressOf(service, entry)).toBeString();
});

test("without TRUST_PROXY the header is ignored, with one warning, so changing it does not avoid a rate limit", async () => {
  await using service = await startService({
    env: { RATE_LIMIT_ENABLED: "true", RATE_LIMIT_DEFAULT: "4/hour" },
  });
  const warnings = () => service.log.filter(({ level }) => level === 40);
  await service.request("/todos");
  expect(warnings()).toEqual([]);
  for (let index = 0; index < 3; index++) expect(await addressOf(service, `192.0.2.${index}`)).toBe(PEER);
  const headers = { "x-forwarded-for": "192.0.2.9", forwarded: "for=1.1.1.1", "x-real-ip": "1.1.1.1" };
  expect((await service.call("GET", "/todos", { headers })).status).toBe(429);
  expect(warnings()).toMatchObject([{ msg: expect.stringContaining("TRUST_PROXY") }]);
});

test("a peer that connects to a dual-stack port over IPv4 has an IPv4 address", async () => {
  await using service = await startService({ env: { HOST: "::" } });
  await fetch(`http://127.0.0.1:${service.port}/todos`, { headers: { "x-request-id": "over-ipv4" } });
  await fetch(`http://127.0.0.1:${service.port}/healthz`);
  const line = service.log.find(({ request_id }) => request_id === "over-ipv4");
  expect(line?.client_address).toBe(PEER);
});
