/** Two replicas with one PostgreSQL and one Redis: clients cannot distinguish them from a single service. */
import { expect, test } from "bun:test";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { pipeline } from "node:stream";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { freePort } from "@latchkey/testing/server-process";
import { post, startProcess } from "@latchkey/testing/service-process";
import { SECRET_KEY } from "../support/service.ts";

const available = Bun.which("redis-server") !== null;
if (!available) process.stderr.write("replicas.test.ts: skipped, because redis-server is not installed\n");

interface Cluster extends AsyncDisposable {
  readonly urls: readonly [string, string];
}

async function startCluster(): Promise<Cluster> {
  const stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgresServer());
  const redis = await startRedisServer();
  if (!redis) throw new Error("redis-server is not installed");
  stack.use(redis);
  const variables = {
    DATABASE_URL: await postgres.createDatabase(),
    REDIS_URL: redis.url,
    AUTH_SECRET_KEY: SECRET_KEY,
    TRUST_PROXY: "1",
  };
  // Both at once on an empty database.
  const replicas = [stack.use(startProcess(variables)), stack.use(startProcess(variables))] as const;
  const urls = [await replicas[0].ready(), await replicas[1].ready()] as const;
  return { urls, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const FIVE_ACCEPTED = [401, 401, 401, 401, 401, 429, 429, 429, 429, 429, 429, 429];

/** The sorted statuses of twelve simultaneous logins from one client address, distributed over the replicas. */
async function loginStatuses(urls: readonly string[], clientAddress: string): Promise<readonly number[]> {
  const login = (url = "") =>
    fetch(`${url}/auth/login`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": clientAddress },
      body: JSON.stringify(credentials),
    });
  const responses = await Promise.all(
    Array.from({ length: 12 }, (_, index) => login(urls[index % urls.length])),
  );
  return responses.map(({ status }) => status).sort();
}

const credentials = { email: "ada@example.org", username: "ada", password: "correct horse" };

test.skipIf(!available)(
  "a token of one replica works at the other, and request ids pass through",
  async () => {
    await using cluster = await startCluster();
    const [one] = cluster.urls;
    expect((await post(`${one}/auth/register`, credentials)).status).toBe(201);
    const { access_token } = (await (await post(`${one}/auth/login`, credentials)).json()) as {
      access_token: string;
    };
    const headers = { authorization: `Bearer ${access_token}`, "x-request-id": "from-outside.1" };
    for (const url of cluster.urls) {
      const me = await fetch(`${url}/auth/me`, { headers });
      expect(me.status).toBe(200);
      expect(me.headers.get("x-request-id")).toBe("from-outside.1");
    }
  },
);

test.skipIf(!available)(
  "two replicas together accept five logins a minute from each client address",
  async () => {
    await using cluster = await startCluster();
    for (const address of ["198.51.100.7", "198.51.100.8"]) {
      expect(await loginStatuses(cluster.urls, address)).toEqual(FIVE_ACCEPTED);
    }
  },
);

/** A port that forwards to Redis, but each connection only after `delayMs`. */
async function startSlowRedis(url: string, delayMs: number): Promise<{ url: string } & AsyncDisposable> {
  const { hostname, port } = new URL(url);
  const server = createServer((client) => {
    const forward = () => {
      const redis = connect(Number(port), hostname);
      for (const [from, to] of [
        [client, redis],
        [redis, client],
      ] as const)
        pipeline(from, to, () => {});
    };
    setTimeout(forward, delayMs);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The proxy has no port");
  return {
    url: `redis://127.0.0.1:${address.port}`,
    async [Symbol.asyncDispose]() {
      server.close();
    },
  };
}

test.skipIf(!available)(
  "two replicas that start together accept exactly five logins, although Redis takes 300 ms to connect",
  async () => {
    await using stack = new AsyncDisposableStack();
    const redis = await startRedisServer();
    if (!redis) throw new Error("redis-server is not installed");
    stack.use(redis);
    const { url: REDIS_URL } = stack.use(await startSlowRedis(redis.url, 300));
    const urls = await Promise.all(
      [1, 2].map(async () => {
        const folder = stack.use(await openFolder());
        const PORT = String(freePort());
        stack.use(startProcess({ PORT, REDIS_URL, DATABASE_URL: folder.databaseUrl, TRUST_PROXY: "1" }));
        const url = `http://127.0.0.1:${PORT}`;
        const isListening = () =>
          fetch(`${url}/healthz`).then(
            () => true,
            () => false,
          );
        while (!(await isListening())) await Bun.sleep(1);
        return url;
      }),
    );
    expect(await loginStatuses(urls, "198.51.100.7")).toEqual(FIVE_ACCEPTED);
  },
);

test("a replica starts without Redis, logs a warning and counts in its own memory", async () => {
  await using folder = await openFolder();
  const REDIS_URL = `redis://127.0.0.1:${freePort()}`;
  await using service = startProcess({ REDIS_URL, DATABASE_URL: folder.databaseUrl, TRUST_PROXY: "1" });
  const url = await service.ready();
  const { level } = await service.line("Redis is unreachable: rate limits are counted in this process");
  expect(level).toBe("warn");
  expect(await loginStatuses([url], "198.51.100.7")).toEqual(FIVE_ACCEPTED);
});
