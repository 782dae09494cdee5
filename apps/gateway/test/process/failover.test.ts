/** A failover of PostgreSQL by DNS: the host name leads to a promoted standby, and the service follows without a restart. */
import { expect, test } from "bun:test";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { canReplaceHosts, withHosts } from "@latchkey/testing/process-1";
import { ROOT } from "@latchkey/testing/repository";
import { post, startProcess } from "@latchkey/testing/service-process";
import { SECRET_KEY } from "../support/service.ts";

if (!canReplaceHosts)
  process.stderr.write("failover.test.ts: skipped, because replacing /etc/hosts for a process needs root\n");

const MAX_MS = 10_000;
const STANDBY = "127.0.0.2";
const TODO = { title: "x" };

/** The old primary accepts connections and reads, which keeps a cached address alive. */
async function demote(server: PostgresServer): Promise<void> {
  await server.query("alter system set default_transaction_read_only = on");
  await server.query("select pg_reload_conf()");
}

inFullRun(test.skipIf(!canReplaceHosts && !process.env.CI)).each([
  ["is killed", (server: PostgresServer) => server.kill()],
  ["becomes read-only", demote],
])(
  "when the primary %s, the first write succeeds within ten seconds after the standby accepts writes",
  async (_, fail) => {
    await using folder = await openFolder();
    const hostsFile = join(folder.path, "hosts");
    const pointTo = (address: string) => writeFile(hostsFile, `127.0.0.1 localhost\n${address} db.test\n`);
    await pointTo("127.0.0.1");
    await using server = await startPostgresServer();
    const url = await server.createDatabase();
    await using _standby = await server.startStandby(STANDBY);
    const standbyUrl = url.replace("127.0.0.1", STANDBY);
    await using service = startProcess(
      {
        DATABASE_URL: url.replace("127.0.0.1", "db.test"),
        AUTH_SECRET_KEY: SECRET_KEY,
        RATE_LIMIT_ENABLED: "false",
        // As from a start command that does not set it.
        BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS: undefined,
      },
      { wrapper: withHosts(hostsFile) },
    );
    const todos = `${await service.ready()}/todos`;
    const write = async () => (await post(todos, TODO)).status;
    expect(await Promise.all(Array.from({ length: 20 }, write))).toEqual(Array(20).fill(201));
    const count = "select count(*)::int as count from todos";
    const isReplicated = async () => {
      const [row] = await server.query<{ count: number }>(count, standbyUrl).catch(() => []);
      return row?.count === 20;
    };
    while (!(await isReplicated())) await Bun.sleep(10);

    await fail(server);
    // A session notices a changed setting a moment later.
    while ((await write()) !== 503) await Bun.sleep(5);
    await pointTo(STANDBY);
    await server.query("select pg_promote()", standbyUrl);
    const acceptsAt = performance.now();
    while ((await write()) !== 201) await Bun.sleep(20);
    expect(performance.now() - acceptsAt).toBeLessThan(MAX_MS);
    expect((await server.query<{ count: number }>(count, standbyUrl))[0]?.count).toBeGreaterThan(20);
  },
);

test("every start command of this repository lets Bun resolve host names again after two seconds", async () => {
  const read = (path: string) => Bun.file(join(ROOT, path)).text();
  const { scripts } = JSON.parse(await read("package.json"));
  const others = ["apps/gateway/Dockerfile", "deploy/systemd/latchkey.service"];
  for (const text of [scripts.start, scripts.dev, ...(await Promise.all(others.map(read)))])
    expect(text).toContain("BUN_CONFIG_DNS_TIME_TO_LIVE_SECONDS=2");
});
