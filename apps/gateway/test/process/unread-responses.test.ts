/** Clients that request the largest response and do not read it cost no memory each. */
import { expect, test } from "bun:test";
import { residentBytes } from "@latchkey/testing/measured-service";
import { readUntil } from "@latchkey/testing/server-process";
import { startInFolder } from "../support/service-process.ts";

/** A small receive buffer cannot be set in JavaScript; without it, the kernel takes whole responses. */
const PYTHON = Bun.which("python3");
if (PYTHON === null) process.stderr.write("python3 is not installed: unread responses are not tested.\n");
const pythonTest = test.skipIf(PYTHON === null && !process.env.CI);
const CLIENTS = 200;
const CLIENT_PROGRAM = `
import socket, sys
port, path, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
clients = []
for _ in range(count):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    client.connect(("127.0.0.1", port))
    client.send(f"GET {path} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n".encode())
    clients.append(client)
for client in clients:
    client.recv(1)
print("received", flush=True)
sys.stdin.read()
`;

import { inFullRun } from "@latchkey/testing/full-run";

inFullRun(pythonTest)(
  "two hundred clients that do not read an uncompressed script add less than a tenth of its size each",
  async () => {
    await using service = await startInFolder();
    const { origin, port } = new URL(await service.ready());
    const page = await (await fetch(`${origin}/docs`)).text();
    const [, asset = ""] = /"(docs\/assets\/[^"]+\/swagger-ui\.js)"/.exec(page) ?? [];
    const path = `/${asset}`;
    const script = await fetch(origin + path, { headers: { "accept-encoding": "identity" } });
    expect(script.status).toBe(200);
    const { byteLength } = await script.bytes();
    const before = await residentBytes(service.pid);
    const clients = Bun.spawn([PYTHON ?? "python3", "-c", CLIENT_PROGRAM, port, path, String(CLIENTS)], {
      stdin: "pipe",
      stdout: "pipe",
    });
    await readUntil(clients.stdout, "received");
    expect((await residentBytes(service.pid)) - before).toBeLessThan((CLIENTS * byteLength) / 10);
    clients.stdin.end();
    await clients.exited;
  },
);
