/** Two replicas with one PostgreSQL and one Redis: what a client cannot tell from a single service. */
import { expect, test } from "bun:test";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { post, startProcess } from "@latchkey/testing/service-process";
import { SECRET_KEY } from "../support/service.ts";

const available = Bun.which("redis-server") !== null;
if (!available) process.stderr.write("replicas.test.ts: skipped, since there is no redis-server here\n");

interface Cluster extends AsyncDisposable {
  readonly urls: readonly [string, string];
}

async function startCluster(): Promise<Cluster> {
  const stack = new AsyncDisposableStack();
  const postgres = stack.use(await startPostgresServer());
  const redis = await startRedisServer();
  if (!redis) throw new Error("There is no redis-server");
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
  for (const replica of replicas) await replica.line("limits are shared through Redis");
  return { urls, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

const person = { email: "ada@example.org", username: "ada", password: "correct horse" };

test.skipIf(!available)(
  "a token of one replica works at the other, and request ids pass through",
  async () => {
    await using cluster = await startCluster();
    const [one] = cluster.urls;
    expect((await post(`${one}/auth/register`, person)).status).toBe(201);
    const { access_token } = (await (await post(`${one}/auth/login`, person)).json()) as {
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
  "two replicas enforce five logins a minute together, for each client's own address",
  async () => {
    await using cluster = await startCluster();
    const login = (url: string, address: string) =>
      fetch(`${url}/auth/login`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-forwarded-for": address },
        body: JSON.stringify(person),
      });
    const [one, two] = cluster.urls;
    for (const address of ["198.51.100.7", "198.51.100.8"]) {
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, index) => login(index % 2 ? one : two, address)),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429, 429, 429, 429, 429, 429, 429]);
    }
  },
);
