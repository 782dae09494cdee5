/** The balancer limits the connections of each client, but not those of a proxy in front of it. */
import { expect } from "bun:test";
import { connect, type Socket } from "node:net";
import { inFullRun } from "@latchkey/testing/full-run";
import { haproxyTest, startBalancer } from "./balancer.ts";
import { nginxTest, startNginx } from "./nginx.ts";
import { startReplicas } from "./replicas.ts";

/** The first part of a body, which the client then sends slowly: one byte, and more than the balancer buffers. */
const BEGINNINGS = ["{", `{${" ".repeat(17 * 1024)}`].map(
  (body) => `POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n${body}`,
);

function openConnection(port: number, bytes: string): Socket {
  const socket = connect({ host: "127.0.0.1", port });
  // The balancer resets connections that exceed the limit.
  socket.on("error", () => {});
  socket.write(bytes);
  return socket;
}

inFullRun(haproxyTest)(
  "a client with more slow requests than the balancer has connections blocks no other client",
  async () => {
    await using balancer = await startReplicas({
      count: 1,
      environment: { CONNECTIONS_PER_CLIENT: "20" },
      edit: (configuration) => configuration.replace("maxconn 4096", "maxconn 50"),
    });
    const connections = Array.from({ length: 70 }, (_, index) =>
      openConnection(balancer.port, BEGINNINGS[index % BEGINNINGS.length] ?? ""),
    );
    const isAnswered = (connection: Socket) =>
      new Promise<unknown>((resolve) => connection.once("connect", resolve).once("close", resolve));
    try {
      await Promise.all(connections.map(isAnswered));
      const options = { keepalive: false, signal: AbortSignal.timeout(5_000) };
      expect((await fetch(`http://[::1]:${balancer.port}/healthz`, options)).status).toBe(200);
    } finally {
      for (const connection of connections) connection.destroy();
    }
  },
);

inFullRun(nginxTest)(
  "with TRUST_PROXY=2, a thousand simultaneous requests of a proxy reach a replica",
  async () => {
    const REQUESTS = 1_000;
    const allArrived = Promise.withResolvers<void>();
    let arrived = 0;
    using replica = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: async ({ url }) => {
        if (new URL(url).pathname !== "/todos") return new Response();
        if (++arrived === REQUESTS) allArrived.resolve();
        await allArrived.promise;
        return new Response();
      },
    });
    const addresses = [`127.0.0.1:${replica.port}`];
    await using balancer = await startBalancer({ addresses, environment: { TRUST_PROXY: "2" } });
    await using nginx = await startNginx(balancer.port);
    const request = "GET /todos HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    const answered = Array.from({ length: REQUESTS }, async () => {
      for await (const bytes of openConnection(nginx.port, request))
        expect(String(bytes)).toStartWith("HTTP/1.1 200 ");
    });
    await Promise.all(answered);
    expect(arrived).toBe(REQUESTS);
  },
);
