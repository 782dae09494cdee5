/** HAProxy's own errors, with its deployed configuration: the error envelope of the service, with a code and a request id. */
import { afterAll, expect } from "bun:test";
import { connect, type Socket } from "node:net";
import { inFullRun } from "@latchkey/testing/full-run";
import { CONFIGURATION, haproxyTest, startBalancer } from "./balancer.ts";

/** Called when a request that gets no response has reached the replica. */
let onHang = () => {};
/** A replica that fails: it closes the connection, breaks the protocol, or never responds. */
const replica = Bun.listen({
  hostname: "127.0.0.1",
  port: 0,
  socket: {
    data(socket, head) {
      const path = head.toString().split(" ")[1];
      if (path === "/close") socket.end();
      if (path === "/break") socket.end("no HTTP\r\n\r\n");
      if (path === "/healthz" || path === "/readyz")
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
      if (path === "/hang") onHang();
    },
  },
});
afterAll(() => replica.stop(true));

/** Sends the beginning of a request, and expects an error of the balancer, such as `502 Bad Gateway`. */
async function expectEnvelope(socket: Socket, request: string, error: string): Promise<void> {
  socket.write(request.replace("\r\n", "\r\nHost: x\r\n"));
  let received = "";
  for await (const bytes of socket) {
    received += bytes;
    if (received.endsWith("}")) break;
  }
  const [status, detail] = [error.slice(0, 3), error.slice(4)];
  expect(received).toStartWith(`HTTP/1.1 ${status} `);
  expect(received).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  expect(received).toContain("\r\ncontent-type: application/json\r\n");
  expect(received).toContain("\r\ncache-control: no-store\r\n");
  const code = detail.toUpperCase().replace(" ", "_");
  expect(received).toEndWith(`\r\n\r\n${JSON.stringify({ detail, code })}`);
}

inFullRun(haproxyTest)("each error of HAProxy has the envelope of the service", async () => {
  // docs/security.md states this limit, which is shorter below.
  expect(CONFIGURATION).toContain("\n    timeout http-request 10s\n");
  const edit = (configuration: string) =>
    `${configuration}\nbackend empty\n`
      .replace("http-request 10s", "http-request 500ms")
      .replace("timeout server 30s", "timeout server 500ms")
      .replace("default_backend", "use_backend empty if { path /none }\n    default_backend");
  await using balancer = await startBalancer({ addresses: [`127.0.0.1:${replica.port}`], edit });
  const open = () => connect({ host: "127.0.0.1", port: balancer.port });
  await expectEnvelope(open(), "FOO /close HTTP/1.1\r\n\r\n", "501 Not Implemented");
  for (const [path, error] of [
    ["/close", "502 Bad Gateway"],
    ["/break", "502 Bad Gateway"],
    ["/none", "503 Service Unavailable"],
    ["/hang", "504 Gateway Timeout"],
  ] as const)
    await expectEnvelope(open(), `POST ${path} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`, error);

  // A body that arrives a byte at a time.
  const slow = open();
  const sending = setInterval(() => slow.write(" "), 100);
  const slowRequest = "POST /hang HTTP/1.1\r\nContent-Length: 9000\r\n\r\n{";
  await expectEnvelope(slow, slowRequest, "408 Request Timeout").finally(() => clearInterval(sending));

  // A head without an end. HAProxy 2.6 responds with a page of its own.
  const endless = open();
  endless.write("POST /hang HTTP/1.1\r\nHost: ");
  expect(String(Buffer.concat(await Array.fromAsync(endless)))).toStartWith("HTTP/1.1 408 ");

  // A malformed chunk. The balancer forwards the head once its buffer is full.
  const malformed = open();
  onHang = () => malformed.write("zz\r\n");
  const chunk = `${(0x8000).toString(16)}\r\n${" ".repeat(0x8000)}\r\n`;
  const chunkedRequest = `POST /hang HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`;
  await expectEnvelope(malformed, chunkedRequest, "400 Bad Request");
});
