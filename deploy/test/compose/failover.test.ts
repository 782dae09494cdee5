/** The balancer in front of two replicas: losing one fails no GET and no login, and limits count each client address. */
import { expect, setDefaultTimeout } from "bun:test";
import { post } from "@latchkey/testing/service-process";
import { haproxyTest, startBalancer } from "./balancer.ts";
import { startReplicas } from "./replicas.ts";

setDefaultTimeout(60_000);

const REQUESTS = 3000;
const CLIENTS = 32;

haproxyTest("killing one replica under load fails no GET", async () => {
  await using replicas = await startReplicas();
  const url = `http://127.0.0.1:${replicas.port}/todos?limit=20`;
  const statuses = new Map<number, number>();
  let sent = 0;
  const client = async () => {
    while (sent < REQUESTS) {
      sent += 1;
      if (sent === REQUESTS / 3) replicas.gateways[0]?.signal("SIGKILL");
      const { status } = await fetch(url);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect([...statuses]).toEqual([[200, sent]]);
  // 128 + SIGKILL
  expect((await replicas.gateways[0]?.ended())?.code).toBe(137);
});

haproxyTest("killing one replica fails no login that is in progress there", async () => {
  await using replicas = await startReplicas();
  const user = { email: "ada@example.com", username: "ada", password: "correct horse" };
  const url = `http://127.0.0.1:${replicas.port}`;
  expect((await post(`${url}/auth/register`, user)).status).toBe(201);
  // Two for each replica; after the first response, the others are in progress or waiting.
  const logins = Array.from({ length: 4 }, () => post(`${url}/auth/login`, user));
  await Promise.race(logins);
  replicas.gateways[0]?.signal("SIGKILL");
  expect((await Promise.all(logins)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
});

/** Six logins from one client with forged addresses exceed its limit, and not that of another client. */
async function expectLimitPerClient(port: number): Promise<void> {
  const login = async (host: string, claimed: string) => {
    const { status } = await fetch(`http://${host}:${port}/auth/login`, {
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
}

haproxyTest("limits count the client's address, regardless of the X-Forwarded-For it sends", async () => {
  // With one replica, one process counts all requests.
  await using replicas = await startReplicas({ count: 1 });
  await expectLimitPerClient(replicas.port);
});

haproxyTest("with TRUST_PROXY=2, limits count the clients of a proxy in front of the balancer", async () => {
  await using replicas = await startReplicas({ count: 1, trustProxy: 2 });
  await using proxy = await startBalancer({ addresses: [`127.0.0.1:${replicas.port}`] });
  await expectLimitPerClient(proxy.port);
});
