/**
 * The load check of upgrades: three replicas behind HAProxy on PostgreSQL lose no request while they are updated from the
 * previous release, rolled back, migrated behind an open transaction, killed and stopped during their start. The exit code is
 * 1 if a step fails.
 */
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { canBeProcess1 } from "@latchkey/testing/process-1";
import { type ServiceProcess, startProcess } from "@latchkey/testing/service-process";
import { startBalancer } from "../test/compose/balancer.ts";
import { SECRET } from "../test/configuration.ts";
import { createRelease, currentRelease, openPreviousRelease, type Release } from "./releases.ts";
import { addressesOf, openSlots, SHUTDOWN_DELAY_SECONDS, type Slot, type Slots, stop } from "./slots.ts";
import { REQUESTS_PER_SECOND, type StepCounts, startTraffic, type Traffic } from "./traffic.ts";

const OPEN_TRANSACTION_MS = 20_000;
const STOP_DELAYS_MS = [250, 500, 1_000];
/** From the signal to the exit, if the port is not open yet. */
const MAX_STARTUP_STOP_MS = 1_000;
const NEW_COLUMNS = [
  "alter table todos add column note text not null default ''",
  "alter table users add column locale text not null default 'en'",
];

interface Cluster {
  readonly databaseUrl: string;
  readonly slots: Slots;
  readonly previous: Release;
  readonly current: Release;
  /** With one of the new columns, and with both. */
  readonly next: Release;
  readonly nextButOne: Release;
}

interface StepResult {
  readonly name: string;
  readonly counts: StepCounts;
  readonly seconds: number;
  /** null: the step did what it describes. */
  readonly error: string | null;
}

function start({ databaseUrl }: Cluster, slot: Slot, { main }: Release): ServiceProcess {
  const variables = {
    NODE_ENV: "production",
    PORT: String(slot.port),
    DATABASE_URL: databaseUrl,
    AUTH_SECRET_KEY: SECRET,
    TRUST_PROXY: "1",
    // Enabled, because logins then also store networks.
    RATE_LIMIT_DEFAULT: "1000000/hour",
    RATE_LIMIT_LOGIN: "1000000/hour",
    SHUTDOWN_DELAY_SECONDS: String(SHUTDOWN_DELAY_SECONDS),
  };
  slot.replica = startProcess(variables, { main, isProcess1: canBeProcess1 });
  return slot.replica;
}

async function startReady(cluster: Cluster, slot: Slot, release: Release): Promise<void> {
  const { version } = await start(cluster, slot, release).line("ready");
  // Release 1.0.0 does not log it.
  if (version !== undefined && version !== release.version)
    throw new Error(`Version ${version} started, not ${release.version}`);
}

/** Stops one replica after another and starts the other release in its place. */
async function roll(cluster: Cluster, release: Release): Promise<void> {
  for (const slot of cluster.slots) {
    await stop(slot);
    await startReady(cluster, slot, release);
  }
}

async function migrateBehindTransaction(cluster: Cluster): Promise<void> {
  const held = Promise.withResolvers<void>();
  await using client = new Bun.SQL(cluster.databaseUrl, { max: 1 });
  const transaction = client.begin(async (open) => {
    await open`select count(*) from users, todos`;
    held.resolve();
    await Bun.sleep(OPEN_TRANSACTION_MS);
  });
  await held.promise;
  await Promise.all([transaction, roll(cluster, cluster.nextButOne)]);
}

async function kill(cluster: Cluster): Promise<void> {
  const [slot] = cluster.slots;
  slot.replica?.signal("SIGKILL");
  await slot.replica?.ended();
  slot.replica = null;
}

async function stopDuringStart(cluster: Cluster): Promise<void> {
  const [slot] = cluster.slots;
  await stop(slot);
  for (const delayMs of STOP_DELAYS_MS) {
    const replica = start(cluster, slot, cluster.nextButOne);
    await Bun.sleep(delayMs);
    const sentAt = performance.now();
    await stop(slot);
    const stopMs = Math.round(performance.now() - sentAt);
    // It can become ready while the signal is delivered.
    const isReady = replica.lines.some(({ msg }) => msg === "ready");
    const maxMs = MAX_STARTUP_STOP_MS + (isReady ? SHUTDOWN_DELAY_SECONDS * 1_000 : 0);
    if (stopMs > maxMs) throw new Error(`After a signal at ${delayMs} ms the process ran for ${stopMs} ms`);
  }
}

interface Step {
  readonly name: string;
  readonly run: (cluster: Cluster) => Promise<void>;
  /** The release that starts afterwards where no replica runs. */
  readonly release: "previous" | "current" | "next" | "nextButOne";
}

const STEPS: readonly Step[] = [
  { name: "no change", run: () => Bun.sleep(5_000), release: "previous" },
  {
    name: "rolling update from the previous release",
    run: (cluster) => roll(cluster, cluster.current),
    release: "current",
  },
  {
    name: "rollback to the previous release",
    run: (cluster) => roll(cluster, cluster.previous),
    release: "previous",
  },
  {
    name: "rolling update that adds a column",
    run: (cluster) => roll(cluster, cluster.next),
    release: "next",
  },
  {
    name: "rollback to the release before",
    run: (cluster) => roll(cluster, cluster.current),
    release: "current",
  },
  {
    name: `migration behind a transaction of ${OPEN_TRANSACTION_MS / 1_000} s`,
    run: migrateBehindTransaction,
    release: "nextButOne",
  },
  { name: "kill -9 of a replica", run: kill, release: "nextButOne" },
  {
    name: `SIGTERM ${STOP_DELAYS_MS.join(", ")} ms after the start`,
    run: stopDuringStart,
    release: "nextButOne",
  },
];

/** Afterwards all replicas run, so that the next step does not depend on this one. */
async function runStep(step: Step, cluster: Cluster, traffic: Traffic): Promise<StepResult> {
  const startedAt = performance.now();
  const counts = traffic.beginStep();
  const error = await step.run(cluster).then(
    () => null,
    (reason: unknown) => String(reason),
  );
  for (const slot of cluster.slots) {
    const isEmpty = slot.replica === null || (error !== null && !(await isServing(slot)));
    if (isEmpty) await startReady(cluster, slot, cluster[step.release]);
  }
  await Bun.sleep(SHUTDOWN_DELAY_SECONDS * 1_000);
  return { name: step.name, counts, error, seconds: (performance.now() - startedAt) / 1_000 };
}

const isServing = ({ port }: Slot): Promise<boolean> =>
  fetch(`http://127.0.0.1:${port}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

function report({ name, counts, seconds, error }: StepResult): void {
  const lost = [...counts.lost.values()].reduce((sum, count) => sum + count, 0);
  const figures = [
    name.padEnd(44),
    `${counts.sent} requests`.padStart(14),
    `${lost} lost`.padStart(9),
    `slowest ${Math.round(counts.slowestMs)} ms`.padStart(18),
    `${seconds.toFixed(0)} s`.padStart(6),
  ];
  process.stdout.write(`${figures.join("")}\n`);
  for (const [problem, count] of counts.lost) process.stdout.write(`  ${count} × ${problem}\n`);
  if (error !== null) process.stdout.write(`  FAILED: ${error.trim()}\n`);
}

async function main(): Promise<boolean> {
  await using resources = new AsyncDisposableStack();
  const folder = resources.use(await openFolder());
  const postgres = resources.use(await startPostgresServer());
  const previous = resources.use(await openPreviousRelease());
  const cluster: Cluster = {
    databaseUrl: await postgres.createDatabase(),
    slots: await openSlots(resources),
    previous,
    current: await currentRelease(),
    next: await createRelease(folder, 2, NEW_COLUMNS.slice(0, 1)),
    nextButOne: await createRelease(folder, 3, NEW_COLUMNS),
  };
  await Promise.all(cluster.slots.map((each) => startReady(cluster, each, cluster.previous)));
  const balancer = resources.use(await startBalancer({ addresses: addressesOf(cluster.slots) }));
  const traffic = await startTraffic(`http://127.0.0.1:${balancer.port}`);

  const where = canBeProcess1 ? "as process 1" : "not as process 1, because unshare is not permitted";
  process.stdout.write(`${cluster.slots.length} replicas ${where}, ${REQUESTS_PER_SECOND} requests/s\n`);
  const results: StepResult[] = [];
  for (const step of STEPS) results.push(await runStep(step, cluster, traffic));
  await traffic.stop();
  // Reported together, because a request of a step can be lost after the step has ended.
  for (const result of results) report(result);
  return results.every(({ counts, error }) => counts.lost.size === 0 && error === null);
}

process.exit((await main()) ? 0 : 1);
