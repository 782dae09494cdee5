/** A hostile body takes about as long as an ordinary one of its length, and so does not delay other clients. */
import { expect, test } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { inFullRun } from "@latchkey/testing/full-run";
import { startInFolder } from "../support/service-process.ts";
import { jsonRequest, openWire } from "../support/wire.ts";
import { collidingName } from "./hostile-requests.ts";

const ROOM = BODY_MAX_BYTES - 100;
const CONNECTIONS = 4;
const REQUESTS = 5;
/** Shorter times are not compared, because other processes also use the machine. */
const FLOOR_MS = 100;

const members = (nameOf: (index: number) => string): string =>
  `{${Array.from({ length: Math.floor(ROOM / 24) }, (_, index) => `"${nameOf(index)}":0`).join()}}`;

/** Each hostile body beside an ordinary one of the same length. */
const BODIES = {
  "an e-mail address of thousands of labels": {
    hostile: `{"email":"a@${"a.".repeat(ROOM / 2)}a","password":"x"}`,
    ordinary: `{"email":"a@b","password":"${"x".repeat(ROOM)}"}`,
  },
  "names with one hash": {
    hostile: members(collidingName),
    ordinary: members((index) => collidingName(index).replace("K", "L")),
  },
  "thousands of opening brackets": { hostile: "[".repeat(ROOM), ordinary: `"${"x".repeat(ROOM)}"` },
};

/** How long `/healthz` takes on a separate connection while other connections send the body. */
async function healthLatencyMs(port: number, body: string): Promise<number> {
  using stack = new DisposableStack();
  const probe = stack.use(await openWire({ port, deadlineMs: 60_000 }));
  const clients = await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => stack.use(await openWire({ port, deadlineMs: 60_000 }))),
  );
  for (const client of clients) client.send(jsonRequest("POST /auth/login", body).repeat(REQUESTS));
  // The first response shows that the service has begun to process them.
  await clients[0]?.readResponse("POST");
  const sentAt = performance.now();
  probe.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n");
  const health = await probe.readResponse("GET");
  const latencyMs = performance.now() - sentAt;
  expect(health?.status).toBe(200);
  for (const [index, client] of clients.entries()) {
    for (let request = index === 0 ? 1 : 0; request < REQUESTS; request++) {
      expect((await client.readResponse("POST"))?.status).toBe(422);
    }
  }
  return latencyMs;
}

inFullRun(test)(
  "/healthz responds while other connections send a hostile body, about as soon as with an ordinary one",
  async () => {
    await using service = await startInFolder({ RATE_LIMIT_ENABLED: "false" });
    const port = Number(new URL(await service.ready()).port);
    const latencyMs = async (body: string) => {
      const measured: number[] = [];
      for (let round = 0; round < 3; round++) measured.push(await healthLatencyMs(port, body));
      return Math.min(...measured);
    };
    for (const [name, { hostile, ordinary }] of Object.entries(BODIES)) {
      const ordinaryMs = await latencyMs(ordinary);
      expect(await latencyMs(hostile), name).toBeLessThan(5 * Math.max(FLOOR_MS, ordinaryMs));
    }
  },
);
