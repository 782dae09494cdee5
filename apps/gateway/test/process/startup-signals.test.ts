/** A stop signal in each phase of the start, to the service as process 1: exit code 0 soon, and never ready. */
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { SECRET_KEY } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { canBeProcess1 } from "@latchkey/testing/process-1";
import { type ServiceProcess, startProcess } from "@latchkey/testing/service-process";
import { spawnSqlite } from "@latchkey/testing/sqlite";

if (!canBeProcess1)
  process.stderr.write("startup-signals.test.ts: skipped, because unshare is not permitted\n");
const process1Test = test.skipIf(!canBeProcess1 && !process.env.CI);

const SIGNALS = [["SIGTERM"], ["SIGINT"]] as const;
/** SIGINT and SIGTERM in the mask of handled signals. */
const SIGNAL_BITS = (1n << 1n) | (1n << 14n);
/** Twice the documented second, because other test files use the cores too; `bun run bench rolling-update` checks the second. */
const MAX_STOP_MS = 2_000;

const start = (env: Readonly<Record<string, string>>): ServiceProcess =>
  startProcess({ AUTH_SECRET_KEY: SECRET_KEY, LOG_FORMAT: "json", ...env }, { isProcess1: true });

const isReady = ({ lines }: ServiceProcess): boolean => lines.some(({ msg }) => msg === "ready");

/** Sends the signal and expects the exit. */
async function expectStop(service: ServiceProcess, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  const sentAt = performance.now();
  service.signal(signal);
  expect(await service.ended()).toEqual({ code: 0, stderr: "" });
  expect(performance.now() - sentAt).toBeLessThan(MAX_STOP_MS);
}

/** Polls the state of another process, which sends no event. */
async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(1);
}

function handlesSignals({ pid }: ServiceProcess): boolean {
  const mask = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (BigInt(`0x${mask}`) & SIGNAL_BITS) === SIGNAL_BITS;
}

const openFiles = ({ pid }: ServiceProcess): string[] =>
  readdirSync(`/proc/${pid}/fd`).map((name) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${name}`);
    } catch {
      return ""; // Closed since the listing.
    }
  });

/** A server that accepts connections and never responds. */
async function startSilentServer() {
  const server = createServer(() => {}).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The server has no port");
  return {
    host: `127.0.0.1:${address.port}`,
    connected: once(server, "connection"),
    [Symbol.dispose]: () => void server.close(),
  };
}

describe.each(SIGNALS)("%s", (signal) => {
  process1Test("stops the service while its modules are imported", async () => {
    await using folder = await openFolder();
    const preload = `--preload=${join(import.meta.dir, "../support/stop-at-import.ts")}`;
    await using service = start({ DATABASE_URL: folder.databaseUrl, BUN_OPTIONS: preload });
    await service.line("importing");
    await expectStop(service, signal);
  });

  process1Test("stops the service as soon as it has a handler, before anything else is done", async () => {
    await using folder = await openFolder();
    await using service = start({ DATABASE_URL: folder.databaseUrl });
    await until(() => handlesSignals(service));
    await expectStop(service, signal);
    expect(service.lines).toEqual([]);
  });
});

process1Test("SIGTERM stops a replica that waits for the migration lock on PostgreSQL", async () => {
  await using server = await startPostgresServer();
  const url = await server.createDatabase();
  await using holder = new Bun.SQL(url, { max: 1 });
  // The key of the advisory lock in packages/database/src/postgres/migrate.ts.
  await holder.unsafe("select pg_advisory_lock(7224011906)");
  await using service = start({ DATABASE_URL: url });
  const connections = "select 1 from pg_stat_activity where application_name = 'latchkey'";
  await until(async () => (await server.query(connections)).length > 0);
  expect(isReady(service)).toBe(false);
  await expectStop(service);
  await holder.unsafe("select pg_advisory_unlock_all()");
  expect(isReady(service)).toBe(false);
});

process1Test("SIGTERM stops a replica that waits for the write lock of the embedded database", async () => {
  await using folder = await openFolder();
  await using holder = spawnSqlite("hold", folder.databaseUrl);
  await holder.stdout.getReader().read();
  await using service = start({ DATABASE_URL: folder.databaseUrl });
  await until(() => openFiles(service).some((path) => path.endsWith("latchkey.db")));
  await expectStop(service);
  expect(isReady(service)).toBe(false);
  holder.stdin.end();
  await holder.exited;
});

process1Test.each([
  ["PostgreSQL", (host: string) => ({ DATABASE_URL: `postgres://latchkey:latchkey@${host}/latchkey` })],
  ["Redis", (host: string) => ({ REDIS_URL: `redis://${host}` })],
])(
  "SIGTERM stops a replica whose %s accepts connections and does not respond",
  async (_name, variablesOf) => {
    using server = await startSilentServer();
    await using folder = await openFolder();
    await using service = start({ DATABASE_URL: folder.databaseUrl, ...variablesOf(server.host) });
    await server.connected;
    await expectStop(service);
    expect(isReady(service)).toBe(false);
  },
);
