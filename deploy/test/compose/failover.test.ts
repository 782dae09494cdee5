/** The balancer in front of two replicas: one is lost under load and nobody notices; each client has limits of its own. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { startReplicas } from "./replicas.ts";

const haproxy = Bun.which("haproxy", { PATH: `${process.env.PATH}:/usr/sbin` });
const canRun = haproxy !== null || process.env.CI !== undefined;
if (!canRun) process.stderr.write("The balancer is not tested: haproxy is not installed.\n");

setDefaultTimeout(60_000);

describe.skipIf(!canRun)("replicas behind the balancer", () => {
  test("losing one under load fails no idempotent request", async () => {
    await using replicas = await startReplicas(haproxy ?? "haproxy");
    const url = `http://127.0.0.1:${replicas.port}/todos?limit=20`;
    const answers = new Map<number, number>();
    let sent = 0;
    const client = async () => {
      while (sent < 3000) {
        sent += 1;
        if (sent === 1000) replicas.gateways[0]?.kill("SIGKILL");
        const { status } = await fetch(url);
        answers.set(status, (answers.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 32 }, client));
    expect([...answers]).toEqual([[200, sent]]);
    expect(replicas.gateways.map(({ signalCode }) => signalCode)).toEqual(["SIGKILL", null]);
  });

  test("limits count the client's own address, whatever it says of itself", async () => {
    await using replicas = await startReplicas(haproxy ?? "haproxy");
    // One replica, so that one process counts.
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
