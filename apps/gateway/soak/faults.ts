/** The faults that are injected one after another, and the errors that each of them explains. */
import { connect } from "node:net";
import type { PostgresServer } from "@latchkey/testing/postgres-server";
import type { RedisServer } from "@latchkey/testing/redis-server";
import type { SoakedService } from "./service.ts";

export interface Fault {
  readonly name: string;
  /** Causes of 503 responses that are expected during the fault and shortly after it. */
  readonly explains: readonly string[];
  inject(): Promise<void>;
}

interface FaultTargets {
  readonly service: SoakedService;
  readonly postgres: PostgresServer;
  readonly redis: RedisServer;
}

const FROZEN_MS = 7_000;
const DOWN_MS = 3_000;
const DISCONNECTING_CLIENTS = 100;
const DATABASE = ["DATABASE_UNAVAILABLE", "Error: The database did not respond within 1000 ms"];

/** The server is frozen for a while, and killed and restarted. */
const outages = (
  name: string,
  server: PostgresServer | RedisServer,
  explains: readonly string[],
): Fault[] => [
  {
    name: `${name} frozen`,
    explains,
    async inject() {
      using _ = await server.freeze();
      await Bun.sleep(FROZEN_MS);
    },
  },
  {
    name: `${name} killed and restarted`,
    explains,
    async inject() {
      await server.kill();
      await Bun.sleep(DOWN_MS);
      await server.start();
    },
  },
];

export const createFaults = ({ service, postgres, redis }: FaultTargets): readonly Fault[] => [
  ...outages("PostgreSQL", postgres, DATABASE),
  ...outages("Redis", redis, []),
  {
    name: "hash worker crashed",
    explains: ["HASH_WORKER_CRASHED"],
    inject: async () => service.crashWorker(),
  },
  { name: "clients disconnect", explains: [], inject: () => disconnectClients(new URL(service.url)) },
];

/** Aborts logins, and closes connections in the middle of a request. */
async function disconnectClients({ origin, hostname, port }: URL): Promise<void> {
  const head =
    "POST /todos HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{";
  const clients = Array.from({ length: DISCONNECTING_CLIENTS }, async (_, index) => {
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ email: "nobody@example.org", password: "aborted login" });
    const login = { method: "POST", headers, body, signal: AbortSignal.timeout(index) };
    await fetch(`${origin}/auth/login`, login).catch(() => null);
    const socket = connect({ host: hostname, port: Number(port) });
    socket.on("error", () => undefined);
    socket.write(head);
    await Bun.sleep(10);
    socket.destroy();
  });
  await Promise.all(clients);
}
