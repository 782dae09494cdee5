/** The balancer in front of two replicas: losing one fails no GET, and repeats logins; limits count each client address. */
import { expect } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { post, request } from "@latchkey/testing/service-process";
import { RedisClient } from "bun";
import { haproxyTest, testWith } from "./balancer.ts";
import { nginxTest, startNginx } from "./nginx.ts";
import { startReplicas } from "./replicas.ts";

const REQUESTS = 3000;
const CLIENTS = 32;

inFullRun(haproxyTest)("killing one replica under load fails no GET", async () => {
  await using replicas = await startReplicas();
  const url = `http://127.0.0.1:${replicas.port}/todos?limit=20`;
  const statuses = new Set<number>();
  let sent = 0;
  const client = async () => {
    while (sent < REQUESTS) {
      sent += 1;
      if (sent === REQUESTS / 3) replicas.gateways[0]?.signal("SIGKILL");
      statuses.add((await fetch(url)).status);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  expect([...statuses]).toEqual([200]);
  // 128 + SIGKILL
  expect((await replicas.gateways[0]?.ended())?.code).toBe(137);
});

inFullRun(testWith("haproxy", "redis-server"))(
  "killing one replica repeats the logins that are in progress there, and counts them again",
  async () => {
    await using redis = await startRedisServer();
    // The slowest kernel: no login is finished when all of them are counted.
    const environment = { REDIS_URL: redis.url, HASH_KERNEL: "portable" };
    await using replicas = await startReplicas({ environment });
    const user = { email: "ada@example.com", username: "ada", password: "correct horse" };
    const url = `http://127.0.0.1:${replicas.port}`;
    expect((await post(`${url}/auth/register`, user)).status).toBe(201);
    const client = new RedisClient(redis.url);
    const countLogins = async () => Number(await client.get("latchkey:limit:login:60000:127.0.0.1"));
    const logins = Array.from({ length: 4 }, () => post(`${url}/auth/login`, user));
    while ((await countLogins()) < 4);
    replicas.gateways[0]?.signal("SIGKILL");
    const statuses = (await Promise.all(logins)).map(({ status }) => status);
    // The first repeated login is the fifth, which is allowed; the others are limited.
    const limited = (await countLogins()) - 5;
    client.close();
    expect(limited).toBeGreaterThanOrEqual(0);
    expect(statuses.filter((status) => status === 429)).toHaveLength(limited);
    expect(statuses.filter((status) => status === 200)).toHaveLength(4 - limited);
  },
);

/** Six logins from one client with forged addresses exceed its limit, and not that of another client. */
async function expectLimitPerClient(port: number): Promise<void> {
  const login = async (host: string, claimed: number) => {
    const headers = { "X-Forwarded-For": `192.0.2.${claimed}` };
    const body = { email: "ada@example.com", password: "correct horse" };
    return (await request(`http://${host}:${port}/auth/login`, { method: "POST", headers, body })).status;
  };
  for (let claimed = 1; claimed <= 6; claimed++)
    expect(await login("127.0.0.1", claimed)).toBe(claimed < 6 ? 401 : 429);
  expect(await login("[::1]", 1)).toBe(401);
}

haproxyTest("limits count the client's address, regardless of the X-Forwarded-For it sends", async () => {
  // With one replica, one process counts all requests.
  await using replicas = await startReplicas({ count: 1 });
  await expectLimitPerClient(replicas.port);
});

inFullRun(nginxTest)(
  "with TRUST_PROXY=2, limits count the clients of a proxy in front of the balancer",
  async () => {
    await using replicas = await startReplicas({ count: 1, environment: { TRUST_PROXY: "2" } });
    await using proxy = await startNginx(replicas.port);
    await expectLimitPerClient(proxy.port);
  },
);
