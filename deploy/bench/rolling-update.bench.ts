/**
 * The load check of upgrades: three replicas behind HAProxy on PostgreSQL lose no request while they are updated from the
 * previous release, rolled back, migrated behind an open transaction, killed and stopped during their start; only a kill can
 * lose a write that is not answered yet. The exit code is 1 if a step fails.
 */
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { addMigration } from "@latchkey/testing/extra-migration";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { canBeProcess1 } from "@latchkey/testing/process-1";
import { checkOutRelease, findReleases, GATEWAY_MAIN, ROOT } from "@latchkey/testing/repository";
import { SECRET } from "../test/configuration.ts";
import { openCluster, SHUTDOWN_DELAY_SECONDS } from "./cluster.ts";

parseOptions({});

const OPEN_TRANSACTION_MS = 20_000;
const STOP_DELAYS_MS = [250, 500, 1_000];
/** From the signal to the exit, if the port is not open yet. */
const MAX_STARTUP_STOP_MS = 1_000;
/** At the time of the kill, of the 15 writes per second. */
const MAX_UNANSWERED_WRITES = 2;
const NEW_COLUMN = "alter table todos add column note text not null default ''";

/**
 * Copies this repository under the version of a later release, and adds a migration with this statement. The migration names this
 * repository's release as the oldest compatible one.
 */
async function createNextRelease(root: string, statement: string): Promise<void> {
  for (const name of ["apps", "packages"])
    await cp(join(ROOT, name), join(root, name), { recursive: true, verbatimSymlinks: true });
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  const manifest: { readonly version: string } = await Bun.file(join(ROOT, "package.json")).json();
  await Bun.write(join(root, "package.json"), JSON.stringify({ ...manifest, version: "999.0.0" }));

  const migrations = join(root, "packages/database/src/postgres/migrations");
  await addMigration(migrations, `-- Oldest compatible release: ${manifest.version}\n${statement};\n`);
}

await using resources = new AsyncDisposableStack();
const folder = resources.use(await openFolder());
const postgres = resources.use(await startPostgresServer());
const databaseUrl = await postgres.createDatabase();
const [latest] = await findReleases();
if (!latest) throw new Error("CHANGELOG.md names no release");
const { path } = resources.use(await checkOutRelease(latest));
Bun.spawnSync([process.execPath, "run", "build:native"], { cwd: path });
await createNextRelease(folder.path, NEW_COLUMN);
const MAIN = "apps/gateway/src/main.ts";
const [previous, next] = [join(path, MAIN), join(folder.path, MAIN)];
// After the folders and the database, because the replicas must end before these are removed.
const cluster = openCluster(resources, { DATABASE_URL: databaseUrl, AUTH_SECRET_KEY: SECRET });
const { slots, stop } = cluster;
const [firstSlot] = slots;
const startNext = () => cluster.start(firstSlot, {}, { main: next, isProcess1: canBeProcess1 });
const roll = (main: string) => cluster.replaceAll({}, { main, isProcess1: canBeProcess1 });

async function migrateBehindTransaction(): Promise<void> {
  const held = Promise.withResolvers<void>();
  await using client = new Bun.SQL(databaseUrl, { max: 1 });
  const transaction = client.begin(async (open) => {
    await open`select count(*) from users, todos`;
    held.resolve();
    await Bun.sleep(OPEN_TRANSACTION_MS);
  });
  await held.promise;
  await Promise.all([transaction, roll(next)]);
}

async function kill(): Promise<void> {
  firstSlot.replica?.signal("SIGKILL");
  await firstSlot.replica?.ended();
  await startNext().ready();
}

async function stopDuringStart(): Promise<void> {
  await stop(firstSlot);
  for (const delayMs of STOP_DELAYS_MS) {
    const replica = startNext();
    await Bun.sleep(delayMs);
    const sentAt = performance.now();
    await stop(firstSlot);
    const stopMs = Math.round(performance.now() - sentAt);
    // It can become ready while the signal is delivered.
    const isReady = replica.lines.some(({ msg }) => msg === "ready");
    const maxMs = MAX_STARTUP_STOP_MS + (isReady ? SHUTDOWN_DELAY_SECONDS * 1_000 : 0);
    if (stopMs > maxMs) throw new Error(`After a signal at ${delayMs} ms the process ran for ${stopMs} ms`);
  }
  await startNext().ready();
}

await roll(previous);
const where = canBeProcess1 ? "as process 1" : "not as process 1, because unshare is not permitted";
print(`${slots.length} replicas ${where}`);
const behind = `column added behind a transaction of ${OPEN_TRANSACTION_MS / 1_000} s`;
await cluster.runSteps([
  { name: "no change", run: () => Bun.sleep(5_000) },
  { name: "rolling update from the previous release", run: () => roll(GATEWAY_MAIN) },
  { name: "rollback to the previous release", run: () => roll(previous) },
  { name: behind, run: migrateBehindTransaction },
  { name: "rollback to the release before", run: () => roll(GATEWAY_MAIN) },
  { name: "kill -9 of a replica", run: kill, maxLostWrites: MAX_UNANSWERED_WRITES },
  { name: `SIGTERM ${STOP_DELAYS_MS.join(", ")} ms after the start`, run: stopDuringStart },
]);
