/** Two replicas behind a real balancer, with one PostgreSQL and one Redis: what a client sees when a replica dies. */
import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@latchkey/tooling/free-port";
import { startPostgresServer } from "@latchkey/tooling/postgres-server";
import { startRedisServer } from "@latchkey/tooling/redis-server";
import { post, type ServiceProcess, startProcess } from "./process.ts";
import { SECRET_KEY } from "./service.ts";

const missing = ["redis-server", "haproxy"].filter((program) => Bun.which(program) === null);
if (missing.length > 0)
  process.stderr.write(`replicas.test.ts: skipped, since there is no ${missing.join(" and no ")} here\n`);

interface Cluster extends AsyncDisposable {
  readonly replicas: readonly [ServiceProcess, ServiceProcess];
  readonly urls: readonly [string, string];
  /** Of the balancer. */
  readonly url: string;
}

/** @param env beside the shared servers */
async function startCluster(env: Readonly<Record<string, string>> = {}): Promise<Cluster> {
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
    ...env,
  };
  // Both at once on an empty database.
  const replicas = [stack.use(startProcess(variables)), stack.use(startProcess(variables))] as const;
  const urls = [await replicas[0].ready(), await replicas[1].ready()] as const;
  for (const replica of replicas) await replica.line("limits are shared through Redis");
  const url = await startBalancer(stack, urls);
  return { replicas, urls, url, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

/** HAProxy with the project's own configuration, on other ports and with these replicas instead of Docker's. */
async function startBalancer(stack: AsyncDisposableStack, urls: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "latchkey-haproxy-"));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const port = await freePort();
  const servers = urls.map((url, index) => `    server replica-${index} ${new URL(url).host}`);
  const shipped = await Bun.file(join(import.meta.dir, "../../../deploy/haproxy/haproxy.cfg")).text();
  const configuration = shipped
    .replace(/^resolvers docker\n(?: {4}.*\n)+/m, "")
    .replace("bind :8080", `bind 127.0.0.1:${port}`)
    .replace(/ resolvers docker .*$/m, "")
    .replace(/^ *server-template .*$/m, servers.join("\n"));
  const path = join(folder, "haproxy.cfg");
  await Bun.write(path, configuration);
  const balancer = Bun.spawn(["haproxy", "-db", "-f", path], { stdout: "ignore", stderr: "ignore" });
  stack.defer(async () => {
    balancer.kill("SIGKILL");
    await balancer.exited;
  });
  const url = `http://127.0.0.1:${port}`;
  // The balancer says nowhere that it listens: ask until it answers with a replica behind it.
  while (!(await fetch(`${url}/readyz`).catch(() => null))?.ok)
    await new Promise((resolve) => setImmediate(resolve));
  return url;
}

const person = { email: "ada@example.org", username: "ada", password: "correct horse" };

test.skipIf(missing.length > 0)(
  "a token of one replica works at the other, and request ids pass through",
  async () => {
    await using cluster = await startCluster();
    const [one, two] = cluster.urls;
    expect((await post(`${one}/auth/register`, person)).status).toBe(201);
    const { access_token } = (await (await post(`${one}/auth/login`, person)).json()) as {
      access_token: string;
    };
    const headers = { authorization: `Bearer ${access_token}`, "x-request-id": "from-outside.1" };
    for (const url of [two, cluster.url]) {
      const me = await fetch(`${url}/auth/me`, { headers });
      expect(me.status).toBe(200);
      expect(me.headers.get("x-request-id")).toBe("from-outside.1");
    }
  },
);

test.skipIf(missing.length > 0)(
  "two replicas enforce five logins a minute together, for each client's own address",
  async () => {
    await using cluster = await startCluster();
    const login = (url: string, address?: string) =>
      fetch(`${url}/auth/login`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          ...(address !== undefined && { "x-forwarded-for": address }),
        },
        body: JSON.stringify({ email: person.email, password: person.password }),
      });
    const [one, two] = cluster.urls;
    const direct = await Promise.all(
      Array.from({ length: 12 }, (_, index) => login(index % 2 ? one : two, "198.51.100.7")),
    );
    expect(direct.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(5);
    expect(direct.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(7);
    // Through the balancer the client is 127.0.0.1, whatever it claims to be.
    const claimed = await Promise.all(
      Array.from({ length: 6 }, (_, index) => login(cluster.url, `203.0.113.${index}`)),
    );
    expect(claimed.map(({ status }) => status).filter((status) => status === 401)).toHaveLength(5);
    expect(claimed.map(({ status }) => status).filter((status) => status === 429)).toHaveLength(1);
  },
);

test.skipIf(missing.length > 0)("a replica killed under load costs no idempotent request", async () => {
  await using cluster = await startCluster({ RATE_LIMIT_ENABLED: "false" });
  for (let index = 0; index < 5; index += 1) await post(`${cluster.url}/todos`, { title: `Todo ${index}` });
  const statuses = new Map<number, number>();
  let isRunning = true;
  const read = async (): Promise<void> => {
    while (isRunning) {
      const { status } = await fetch(`${cluster.url}/todos?limit=5`);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
  };
  const readers = Array.from({ length: 8 }, read);
  const answered = async (count: number): Promise<void> => {
    const target = (statuses.get(200) ?? 0) + count;
    while ((statuses.get(200) ?? 0) < target) await fetch(`${cluster.url}/todos?limit=1`);
  };
  await answered(200);
  cluster.replicas[0].signal("SIGKILL");
  await cluster.replicas[0].ended();
  await answered(500);
  isRunning = false;
  await Promise.all(readers);
  expect([...statuses.keys()]).toEqual([200]);
});
