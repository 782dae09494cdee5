/** The balancer in front of two replicas: losing one fails no GET, and limits count each client address. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startReplicas } from "./replicas.ts";

const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
const canRun = haproxy !== null || process.env.CI !== undefined;
if (!canRun) process.stderr.write("haproxy is not installed: the balancer is not tested.\n");

setDefaultTimeout(60_000);

describe.skipIf(!canRun)("replicas behind the balancer", () => {
  test("killing one replica under load fails no GET", async () => {
    await using replicas = await startReplicas(haproxy ?? "haproxy");
    const url = `http://127.0.0.1:${replicas.port}/todos?limit=20`;
    const statuses = new Map<number, number>();
    let sent = 0;
    const client = async () => {
      while (sent < 3000) {
        sent += 1;
        if (sent === 1000) replicas.gateways[0]?.kill("SIGKILL");
        const { status } = await fetch(url);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    expect([...statuses]).toEqual([[200, sent]]);
    expect(replicas.gateways.map(({ signalCode }) => signalCode)).toEqual(["SIGKILL", null]);
  });

  test("limits count the client's address, whatever X-Forwarded-For it sends", async () => {
    await using replicas = await startReplicas(haproxy ?? "haproxy");
    // With one replica, one process counts all requests.
    replicas.gateways[0]?.kill("SIGKILL");
    await replicas.gateways[0]?.exited;
    const login = async (host: string, claimed: string) => {
      const { status } = await fetch(`http://${host}:${replicas.port}/auth/login`, {
        method: "POST",
        headers: { "Content-Type": "application/json", "X-Forwarded-For": claimed },
        body: JSON.stringify({ email: "ada@example.com", password: "correct horse" }),
      });
      return status;
    };
    const claims = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4", "192.0.2.5", "192.0.2.6"];
    const statuses: number[] = [];
    for (const claimed of claims) statuses.push(await login("127.0.0.1", claimed));
    expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    expect(await login("[::1]", "192.0.2.1")).toBe(401);
  });
});
