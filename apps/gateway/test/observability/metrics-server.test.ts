/** Which requests get metrics, by the address of the server and the `Host` of the request. */
import { expect, test } from "bun:test";
import { serveMetrics } from "../../src/observability/metrics-server.ts";
import { exchangeBytes } from "../support/wire.ts";

async function startServer(hostname: string) {
  const read = async () => ({ contentType: "text/plain", text: "up 1" });
  const server = serveMetrics({ read }, { hostname, port: 0 });
  return {
    /** Returns the status. @param host the whole line of the header */
    async get(host: string, path = "/metrics") {
      const address = { hostname: hostname === "::1" ? "::1" : "127.0.0.1", port: server.port ?? 0 };
      const text = await exchangeBytes(address, `GET ${path} HTTP/1.0\r\n${host}\r\n`);
      return Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1]);
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

const OWN = [
  "127.0.0.1",
  "127.0.0.1:9464",
  "localhost",
  "LocalHost:9464",
  "[::1]",
  "[::1]:9464",
  "10.0.0.7:1",
];
const FOREIGN = [
  ...[
    "attacker.example",
    "attacker.example:9464",
    "localhost.attacker.example",
    "127.0.0.1.attacker.example",
  ],
  ...["x.localhost", "localhost.", "127.0.0.1.", "2130706433", "0x7f000001", "0177.0.0.1", "127.1"],
  ...[
    "[::1].attacker.example",
    "[attacker.example]",
    "localhost@attacker.example",
    "localhost, attacker.example",
  ],
  ...["[", "", ":9464", "localhost:9464:1", "localhost:x"],
];

test.each(["127.0.0.1", "localhost", "::1", "127.1"])(
  "a server on %s responds only to a `Host` that is an address or `localhost`: DNS gives any other name this address",
  async (hostname) => {
    await using server = await startServer(hostname);
    for (const host of OWN) expect([host, await server.get(`Host: ${host}\r\n`)]).toEqual([host, 200]);
    for (const host of FOREIGN)
      expect([host, await server.get(`Host: ${host}\r\n`)]).toEqual(
        // The configured name is one that the operator has chosen.
        [host, host === hostname ? 200 : 421],
      );
    expect(await server.get("")).toBe(421);
    expect(await server.get("Host: localhost\r\nHost: attacker.example\r\n")).toBe(421);
    expect(await server.get("Host: attacker.example\r\n", "/")).toBe(421);
    expect(await server.get("Host: localhost\r\n", "/")).toBe(404);
  },
);

test("a server that other machines can reach responds to any `Host`", async () => {
  await using server = await startServer("0.0.0.0");
  for (const host of ["gateway:9464", "[", "127.0.0.1"])
    expect(await server.get(`Host: ${host}\r\n`)).toBe(200);
});
