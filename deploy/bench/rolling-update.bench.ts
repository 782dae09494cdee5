/**
 * The load check of upgrades: three replicas behind HAProxy on PostgreSQL lose no request while they are updated from the
 * previous release, rolled back, migrated behind an open transaction, killed and stopped during their start; only a kill can
 * lose a write that is not answered yet. The exit code is 1 if a step fails.
 */
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { canBeProcess1 } from "@latchkey/testing/process-1";
import type { ServiceProcess } from "@latchkey/testing/service-process";
import { SECRET } from "../test/configuration.ts";
import {
  openSlots,
  replaceAll,
  runSteps,
  SHUTDOWN_DELAY_SECONDS,
  type Slot,
  start,
  stop,
} from "./cluster.ts";
import { createNextRelease, currentRelease, openPreviousRelease, type Release } from "./releases.ts";

parseOptions({});

const OPEN_TRANSACTION_MS = 20_000;
const STOP_DELAYS_MS = [250, 500, 1_000];
/** From the signal to the exit, if the port is not open yet. */
const MAX_STARTUP_STOP_MS = 1_000;
/** At the time of the kill, of the 15 writes per second. */
const MAX_UNANSWERED_WRITES = 2;
const NEW_COLUMN = "alter table todos add column note text not null default ''";

const isServing = ({ port }: Slot): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

await using resources = new AsyncDisposableStack();
const folder = resources.use(await openFolder());
const postgres = resources.use(await startPostgresServer());
const databaseUrl = await postgres.createDatabase();
const previous = resources.use(await openPreviousRelease());
const current = await currentRelease();
const next = await createNextRelease(folder, NEW_COLUMN);
// After the folders and the database, because the replicas must end before these are removed.
const slots = await openSlots(resources);
const [firstSlot] = slots;

function startRelease(slot: Slot, { main }: Release): ServiceProcess {
  const variables = { DATABASE_URL: databaseUrl, AUTH_SECRET_KEY: SECRET };
  return start(slot, variables, { main, isProcess1: canBeProcess1 });
}

async function startReady(slot: Slot, release: Release): Promise<void> {
  const { version } = await startRelease(slot, release).line("ready");
  // Release 1.0.0 does not log it.
  if (version !== undefined && version !== release.version)
    throw new Error(`Version ${version} started, not ${release.version}`);
}

const roll = (release: Release) => replaceAll(slots, (slot) => startReady(slot, release));

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
  firstSlot.replica = null;
}

async function stopDuringStart(): Promise<void> {
  await stop(firstSlot);
  for (const delayMs of STOP_DELAYS_MS) {
    const replica = startRelease(firstSlot, next);
    await Bun.sleep(delayMs);
    const sentAt = performance.now();
    await stop(firstSlot);
    const stopMs = Math.round(performance.now() - sentAt);
    // It can become ready while the signal is delivered.
    const isReady = replica.lines.some(({ msg }) => msg === "ready");
    const maxMs = MAX_STARTUP_STOP_MS + (isReady ? SHUTDOWN_DELAY_SECONDS * 1_000 : 0);
    if (stopMs > maxMs) throw new Error(`After a signal at ${delayMs} ms the process ran for ${stopMs} ms`);
  }
}

/** The release is the one that starts afterwards where no replica runs. */
const step = (name: string, release: Release, run: () => Promise<unknown> = () => roll(release)) => ({
  name,
  run,
  async restore(hasFailed: boolean) {
    for (const slot of slots) {
      const isEmpty = slot.replica === null || (hasFailed && !(await isServing(slot)));
      if (isEmpty) await startReady(slot, release);
    }
    await Bun.sleep(SHUTDOWN_DELAY_SECONDS * 1_000);
  },
});
const where = canBeProcess1 ? "as process 1" : "not as process 1, because unshare is not permitted";
print(`${slots.length} replicas ${where}`);
await Promise.all(slots.map((slot) => startReady(slot, previous)));
const isPassed = await runSteps(resources, slots, [
  step("no change", previous, () => Bun.sleep(5_000)),
  step("rolling update from the previous release", current),
  step("rollback to the previous release", previous),
  step(
    `column added behind a transaction of ${OPEN_TRANSACTION_MS / 1_000} s`,
    next,
    migrateBehindTransaction,
  ),
  step("rollback to the release before", current),
  { ...step("kill -9 of a replica", next, kill), maxLostWrites: MAX_UNANSWERED_WRITES },
  step(`SIGTERM ${STOP_DELAYS_MS.join(", ")} ms after the start`, next, stopDuringStart),
]);
process.exitCode = isPassed ? 0 : 1;
