/**
 * Chunked requests through the balancer. The gateway closes its connection after each, because Bun responds to trailers with 400
 * (oven-sh/bun#32887): only the sender can receive it, and only before HAProxy 3.2, which drops trailers.
 */
import { expect } from "bun:test";
import { connect } from "node:net";
import { inFullRun } from "@latchkey/testing/full-run";
import { haproxyTest } from "./balancer.ts";
import { startReplicas } from "./replicas.ts";

const CHUNKED_REQUESTS = 240;
const TODO = '{"title":"sent in chunks"}';

const plainRequest = (id: string) => ["GET /healthz HTTP/1.1", "Host: x", `X-Request-ID: ${id}`, "", ""];
const chunkedRequest = (id: string, body = TODO) => [
  ...["POST /todos HTTP/1.1", "Host: x", `X-Request-ID: ${id}`, "Content-Type: application/json"],
  ...["Transfer-Encoding: chunked", "Trailer: X-Checksum", ""],
  ...[body.length.toString(16), body, "0", "X-Checksum: 1", "", ""],
];

/** Opens one connection that sends a request at a time and returns the status and the request id of the response. */
function openClient(port: number) {
  let received = "";
  let exchange = Promise.withResolvers<void>();
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("data", (bytes) => {
    received += bytes;
    if (received.endsWith("}") || !received.startsWith("HTTP/1.1 20")) exchange.resolve();
  });
  // The balancer can reset a connection after its response; without a response, the status is undefined.
  socket.on("error", () => {});
  socket.on("close", () => exchange.resolve());
  return {
    async send(lines: readonly string[]): Promise<string> {
      received = "";
      exchange = Promise.withResolvers();
      socket.write(lines.join("\r\n"));
      await exchange.promise;
      const [, status] = /^HTTP\/1\.1 (\d+)/.exec(received) ?? [];
      return `${status} ${/^x-request-id: (.*)\r$/im.exec(received)?.[1]}`;
    },
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

inFullRun(haproxyTest)(
  "trailers of one client never cause a response to another client's request",
  async () => {
    // One request at a time: the next one reuses the connection as soon as the previous one is answered.
    const edit = (configuration: string) => configuration.replace(/server gateway-1 .*/, "$& maxconn 1");
    await using balancer = await startReplicas({ count: 1, edit });
    let isDone = false;
    const sendChunked = async () => {
      for (let sent = 0; sent < CHUNKED_REQUESTS; sent++) {
        using client = openClient(balancer.port);
        const response = await client.send(chunkedRequest(`chunked-${sent}`));
        // The 400 precedes the response if the response is not ready when the trailers arrive. It has no request id.
        expect([`201 chunked-${sent}`, "400 undefined"]).toContain(response);
      }
      isDone = true;
    };
    const sendPlain = async () => {
      using client = openClient(balancer.port);
      for (let sent = 0; !isDone; sent++) {
        expect(await client.send(plainRequest(`plain-${sent}`))).toBe(`200 plain-${sent}`);
      }
    };
    await Promise.all([sendChunked(), sendPlain()]);
  },
);

inFullRun(haproxyTest)(
  "a chunked body over the limit returns 413 while the client is still sending it",
  async () => {
    await using balancer = await startReplicas({ count: 1 });
    const body = " ".repeat(8 * 1024 * 1024);
    for (let sent = 0; sent < 20; sent++) {
      using client = openClient(balancer.port);
      expect(await client.send(chunkedRequest("large", body))).toBe("413 large");
    }
  },
);
