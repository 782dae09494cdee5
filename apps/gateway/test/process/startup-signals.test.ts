/** A stop signal in each phase of the start, to the service as process 1: exit code 0 soon, and never ready. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { canBeProcess1 } from "@latchkey/testing/process-1";
import { GATEWAY_MAIN } from "@latchkey/testing/repository";
import type { ServiceProcess, StartOptions } from "@latchkey/testing/service-process";
import { holdSqliteLock } from "@latchkey/testing/sqlite";
import { startInFolder } from "../support/service-process.ts";

if (!canBeProcess1)
  process.stderr.write("startup-signals.test.ts: skipped, because unshare is not permitted\n");
const process1Test = test.skipIf(!canBeProcess1 && !process.env.CI);

/** SIGHUP, SIGINT and SIGTERM in the mask of handled signals. */
const SIGNAL_BITS = (1n << 0n) | (1n << 1n) | (1n << 14n);
/** Twice the documented second, because other test files use the cores too; `bun run bench rolling-update` checks the second. */
const MAX_STOP_MS = 2_000;

const start = (env: Readonly<Record<string, string>> = {}, options: StartOptions = {}) =>
  startInFolder(
    { AUTH_SECRET_KEY: SECRET_KEY, LOG_FORMAT: "json", ...env },
    { isProcess1: true, ...options },
  );

/** Sends the signal and expects the exit of a service that was never ready. */
async function expectStop(service: ServiceProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  const sentAt = performance.now();
  service.signal(signal);
  expect(await service.ended()).toEqual({ code: 0, stderr: "" });
  expect(performance.now() - sentAt).toBeLessThan(MAX_STOP_MS);
  expect(service.lines.filter(({ msg }) => msg === "ready")).toEqual([]);
}

/** Polls the state of another process, which sends no event. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(1);
}

function handlesSignals({ pid }: ServiceProcess): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (BigInt(`0x${mask}`) & SIGNAL_BITS) === SIGNAL_BITS;
}

const hasOpened = ({ pid }: ServiceProcess, file: string): boolean =>
  Bun.spawnSync(["ls", "-l", `/proc/${pid}/fd`]).stdout.includes(file);

for (const [signal, runner] of [
  ["SIGTERM", describe],
  ["SIGINT", inFullRun(describe)],
  ["SIGHUP", inFullRun(describe)],
] as const)
  runner(signal, () => {
    process1Test("stops the service while its modules are imported", async () => {
      const preload = `--preload=${join(import.meta.dir, "../support/stop-at-import.ts")}`;
      await using service = await start({ BUN_OPTIONS: preload }, { main: GATEWAY_MAIN });
      await service.line("importing");
      await expectStop(service, signal);
    });

    process1Test("stops the service as soon as it has a handler, before anything else is done", async () => {
      await using service = await start();
      await until(() => handlesSignals(service));
      await expectStop(service, signal);
      expect(service.lines).toEqual([]);
    });
  });

inFullRun(process1Test)(
  "SIGTERM stops a replica that waits for the migration lock on PostgreSQL",
  async () => {
    await using server = await startPostgresServer();
    const url = await server.createDatabase();
    await using holder = new Bun.SQL(url, { max: 1 });
    // The key of the advisory lock in packages/database/src/postgres/migrate.ts.
    await holder.unsafe("select pg_advisory_lock(7224011906)");
    await using service = await start({ DATABASE_URL: url });
    const connections = "select 1 from pg_stat_activity where application_name = 'latchkey'";
    await until(async () => (await server.query(connections)).length > 0);
    await expectStop(service);
  },
);

process1Test("SIGTERM stops a replica that waits for the write lock of the embedded database", async () => {
  await using folder = await openFolder();
  await using _lock = await holdSqliteLock(folder.databaseUrl);
  await using service = await start({ DATABASE_URL: folder.databaseUrl });
  await until(() => hasOpened(service, "latchkey.db"));
  await expectStop(service);
});

process1Test.each([
  ["PostgreSQL", (host: string) => ({ DATABASE_URL: `postgres://latchkey:latchkey@${host}/latchkey` })],
  ["Redis", (host: string) => ({ REDIS_URL: `redis://${host}` })],
])(
  "SIGTERM stops a replica whose %s accepts connections and does not respond",
  async (_name, variablesOf) => {
    const connected = Promise.withResolvers<void>();
    const socket = { open: () => connected.resolve(), data: () => undefined };
    using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket });
    await using service = await start(variablesOf(`127.0.0.1:${server.port}`));
    await connected.promise;
    await expectStop(service);
  },
);
