/** HAProxy's own errors, with its deployed configuration: the error envelope of the service, with a code and a request id. */
import { afterAll, expect, setDefaultTimeout } from "bun:test";
import { connect, createServer, type Socket } from "node:net";
import { haproxyTest, startBalancer } from "./balancer.ts";

setDefaultTimeout(60_000);

/** A replica that fails: it closes the connection, breaks the protocol, or never responds. */
const replica = createServer((socket) => {
  socket.on("error", () => {});
  socket.once("data", (head) => {
    const path = head.toString().split(" ")[1];
    if (path === "/close") socket.end();
    if (path === "/break") socket.end("no HTTP\r\n\r\n");
    if (path === "/healthz" || path === "/readyz") socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
  });
});
await new Promise<void>((resolve) => replica.listen(0, "127.0.0.1", resolve));
afterAll(() => void replica.close());
const address = replica.address();
const server = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;

const withShortTimeout = (configuration: string) =>
  configuration.replace("timeout server 30s", "timeout server 500ms");

async function expectEnvelope(response: Response, status: number, body: object): Promise<void> {
  expect([response.status, await response.json()]).toEqual([status, body]);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
}

const BAD_GATEWAY = { detail: "Bad Gateway", code: "BAD_GATEWAY" };

haproxyTest(
  "a replica that fails or does not respond in time results in 502 or 504 in the envelope",
  async () => {
    await using balancer = await startBalancer({ addresses: [server], edit: withShortTimeout });
    // On a reused connection, HAProxy closes it instead, so that the client retries.
    const options = { method: "POST", keepalive: false };
    const post = (path: string) => fetch(`http://127.0.0.1:${balancer.port}${path}`, options);
    await expectEnvelope(await post("/close"), 502, BAD_GATEWAY);
    await expectEnvelope(await post("/break"), 502, BAD_GATEWAY);
    await expectEnvelope(await post("/hang"), 504, { detail: "Gateway Timeout", code: "GATEWAY_TIMEOUT" });
  },
);

haproxyTest("503 in the envelope without a ready replica", async () => {
  await using balancer = await startBalancer({
    addresses: [server],
    edit: (configuration) =>
      configuration.replace(
        "default_backend gateway",
        "use_backend gateway if { path /healthz }\n    default_backend empty\nbackend empty",
      ),
  });
  const response = await fetch(`http://127.0.0.1:${balancer.port}/todos`);
  await expectEnvelope(response, 503, { detail: "Service Unavailable", code: "SERVICE_UNAVAILABLE" });
});

/** Expects one of the balancer's own errors, and closes the connection. */
async function expectEnvelopeFrom(socket: Socket, status: number, body: object): Promise<void> {
  let received = "";
  for await (const bytes of socket) {
    received += bytes;
    if (received.endsWith("}")) break;
  }
  expect(received).toStartWith(`HTTP/1.1 ${status} `);
  expect(received).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  expect(received).toEndWith(JSON.stringify(body));
}

haproxyTest("400 in the envelope for a body with a malformed chunk", async () => {
  await using balancer = await startBalancer({ addresses: [server] });
  const socket = connect({ host: "127.0.0.1", port: balancer.port });
  // The balancer forwards the head once its buffer is full.
  const chunk = `${(0x8000).toString(16)}\r\n${" ".repeat(0x8000)}\r\n`;
  socket.write(`POST /hang HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunk}`);
  replica.once("connection", (forwarded) => forwarded.once("data", () => socket.write("zz\r\n")));
  await expectEnvelopeFrom(socket, 400, { detail: "Bad Request", code: "BAD_REQUEST" });
});

haproxyTest("408 in the envelope for a body that arrives a byte at a time", async () => {
  const edit = (configuration: string) => configuration.replace("http-request 10s", "http-request 500ms");
  await using balancer = await startBalancer({ addresses: [server], edit });
  const socket = connect({ host: "127.0.0.1", port: balancer.port });
  socket.write("POST /hang HTTP/1.1\r\nHost: x\r\nContent-Length: 9000\r\n\r\n{");
  const sending = setInterval(() => socket.write(" "), 100);
  try {
    await expectEnvelopeFrom(socket, 408, { detail: "Request Timeout", code: "REQUEST_TIMEOUT" });
  } finally {
    clearInterval(sending);
  }
});
