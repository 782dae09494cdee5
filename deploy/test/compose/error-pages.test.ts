/** HAProxy's own errors, with its deployed configuration: the error envelope of the service, with a code and a request id. */
import { afterAll, expect, setDefaultTimeout } from "bun:test";
import { connect, createServer } from "node:net";
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

haproxyTest("400 in the envelope for a body with a malformed chunk", async () => {
  await using balancer = await startBalancer({ addresses: [server] });
  const received = await new Promise<string>((resolve, reject) => {
    const socket = connect({ host: "127.0.0.1", port: balancer.port });
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes;
    });
    socket.on("error", reject);
    socket.on("close", () => resolve(text));
    socket.write("POST /hang HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    // The balancer has forwarded the head.
    replica.once("connection", (forwarded) => forwarded.once("data", () => socket.write("zz\r\n")));
  });
  expect(received).toStartWith("HTTP/1.1 400 ");
  expect(received).toMatch(/^x-request-id: [0-9a-f-]{36}\r$/m);
  expect(received).toEndWith('{"detail":"Bad Request","code":"BAD_REQUEST"}');
});
