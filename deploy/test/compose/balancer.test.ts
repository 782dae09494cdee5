/** HAProxy accepts haproxy.cfg, and its ports, names and timings match docker-compose.yml. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { request } from "@latchkey/testing/service-process";
import { CONFIGURATION, HAPROXY, haproxyTest, startBalancer } from "./balancer.ts";
import { environmentOf, readCompose } from "./compose-file.ts";
import { startReplicas } from "./replicas.ts";

const { services } = readCompose();

haproxyTest.each([
  ["the variables of Compose", services.balancer?.environment],
  ["a proxy in front", { TRUST_PROXY: "2" }],
  ["no limit of connections", { CONNECTIONS_PER_CLIENT: "0" }],
  ["the other profile", { COMPOSE_PROFILES: "embedded" }],
])("HAProxy accepts the file without a warning with %s", async (_, environment = {}) => {
  await using folder = await openFolder();
  const path = join(folder.path, "haproxy.cfg");
  await Bun.write(path, CONFIGURATION.replace("/tmp/servers", `${path}.servers`));
  // The version of an empty state. HAProxy 2.6 warns if the file is missing.
  await Bun.write(`${path}.servers`, "1\n");
  const env = environmentOf({ environment }, {});
  const { exitCode, stderr } = Bun.spawnSync([HAPROXY, "-c", "-f", path], { env });
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
});

haproxyTest("a change of a replica's state is logged once", async () => {
  const replica = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  await using balancer = await startBalancer({ addresses: [`127.0.0.1:${replica.port}`] });
  await replica.stop(true);
  let log = "";
  while (!log.includes("has no server available")) log = await balancer.log();
  expect(log.match(/ is DOWN/g)).toHaveLength(1);
});

haproxyTest("the administration of a replica is not reachable through the balancer", async () => {
  const token = "k".repeat(32);
  const environment = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${token}` };
  await using replicas = await startReplicas({ count: 1, environment });
  const admin = new URL(String((await replicas.gateways[0]?.line("ready"))?.administration));
  for (const path of ["/admin/users", "/admin/stats", "/admin/openapi.json"]) {
    expect((await request(`${admin.origin}${path}`, { token })).status).toBe(200);
    for (const host of ["127.0.0.1", admin.host]) {
      const url = `http://127.0.0.1:${replicas.port}${path}`;
      expect((await request(url, { token, headers: { host } })).status).toBe(404);
    }
  }
});

test("the balancer listens on the published port and resolves the replicas by their network name", () => {
  const [, containerPort] = /:(\d+)$/.exec(services.balancer?.ports?.[0] ?? "") ?? [];
  expect(CONFIGURATION).toContain(`bind :${containerPort}`);
  const templates = [...CONFIGURATION.matchAll(/^ {4}server-template gateway- \d+ (\S+):3000$/gm)];
  const names = templates.map(([, name = ""]) => name);
  expect(names).toEqual(["gateway-embedded", "gateway"]);
  for (const name of names) expect(services[name]?.networks).toContain("front");
});

test("without Compose, the defaults of its variables are the same", () => {
  for (const [name, value] of Object.entries(services.balancer?.environment ?? {})) {
    expect(CONFIGURATION).toContain(`    presetenv ${name} ${value}\n`);
  }
});

test("the balancer detects an unready replica before that replica stops listening", () => {
  const seconds = (name: string) => Number(new RegExp(` ${name} (\\d+)s`).exec(CONFIGURATION)?.[1]);
  const detectionSeconds = seconds("inter") * Number(/ fall (\d+)/.exec(CONFIGURATION)?.[1]);
  expect(Number(services.gateway?.environment?.SHUTDOWN_DELAY_SECONDS)).toBeGreaterThan(detectionSeconds);
});
