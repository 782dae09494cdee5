/**
 * `bun run soak [--minutes 10]`: a service on PostgreSQL and Redis under a mixed load, with a fault every
 * minute. Ends with a report, and with exit code 1 if anything was lost, leaked or failed without a reason.
 */
import { parseArgs } from "node:util";
import type { TodoPage } from "@latchkey/contracts";
import { describeMachine } from "@latchkey/testing/machine";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { runClients, type Tally } from "./clients.ts";
import { createFaults, type Fault } from "./faults.ts";
import { createLedger, type Held } from "./ledger.ts";
import { type Heap, type SoakedService, startSoakedService } from "./service.ts";
import { type Injected, type Judged, judgeFailures, judgeMemory, type Sample } from "./verdict.ts";

const { values } = parseArgs({ options: { minutes: { type: "string", default: "10" } } });
const minutes = Number(values.minutes);
if (!(minutes >= 1)) {
  process.stderr.write("Usage: bun run soak [--minutes N], N at least 1\n");
  process.exit(64);
}
const MINUTE_MS = 60_000;
const SAMPLE_MS = 2_000;
/** Until then the runtime compiles and caches fill; a short soak has less of it. */
const warmUpMs = Math.min(3, minutes / 3) * MINUTE_MS;

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const clock = (): string => `${(performance.now() / MINUTE_MS).toFixed(1).padStart(5)} min`;

/** One fault a minute, in turn, a third of the minute in; each ends before the next begins. */
async function injectFaults(faults: readonly Fault[], signal: AbortSignal): Promise<Injected[]> {
  const injected: Injected[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    const fault = faults[minute % faults.length];
    await pause(MINUTE_MS / 3, signal);
    if (fault === undefined || signal.aborted) break;
    const fromMs = performance.now();
    print(`${clock()}  ${fault.name}`);
    await fault.inject();
    injected.push({ ...fault, fromMs, toMs: performance.now() });
    await pause(MINUTE_MS * (2 / 3) - (performance.now() - fromMs), signal);
  }
  return injected;
}

/** Samples the resident memory all along, and the live heap once a minute, both once it is warm. */
async function watchMemory(service: SoakedService, signal: AbortSignal) {
  const samples: Sample[] = [];
  const heaps: Heap[] = [];
  await pause(warmUpMs, signal);
  while (!signal.aborted) {
    heaps.push(await service.collect());
    const minuteEnds = performance.now() + MINUTE_MS;
    while (performance.now() < minuteEnds && !signal.aborted) {
      samples.push({ atMs: performance.now(), residentBytes: await service.residentBytes() });
      await pause(SAMPLE_MS, signal);
    }
  }
  heaps.push(await service.collect());
  return { samples, heaps };
}

/** Every todo that the service has. */
async function readAll(url: string): Promise<Map<number, Held>> {
  const todos = new Map<number, Held>();
  let cursor = "";
  for (;;) {
    const response = await fetch(`${url}/todos?limit=100${cursor}`);
    const page = (await response.json()) as TodoPage;
    for (const { id, title, completed } of page.items) todos.set(id, { title, completed });
    if (page.next_cursor === null) return todos;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

async function pause(durationMs: number, signal: AbortSignal): Promise<void> {
  const end = performance.now() + durationMs;
  while (performance.now() < end && !signal.aborted) await Bun.sleep(Math.min(100, end - performance.now()));
}

function judgeConnections({ broken }: Tally): Judged {
  const [first] = broken;
  return {
    claim: "every request of the load was answered",
    holds: broken.length === 0,
    evidence:
      first === undefined ? "no connection broke" : `${broken.length} were not, the first: ${first.reason}`,
  };
}

await using postgres = await startPostgresServer();
await using redis = await startRedisServer();
if (redis === null) print("There is no redis-server here: the soak goes on without it.");
await using service = await startSoakedService({
  DATABASE_URL: await postgres.createDatabase(),
  AUTH_SECRET_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url"),
  RATE_LIMIT_DEFAULT: "999999999/hour",
  RATE_LIMIT_LOGIN: "999999999/hour",
  RATE_LIMIT_REGISTER: "999999999/hour",
  METRICS_PORT: "0",
  ...(redis && { REDIS_URL: redis.url }),
});
print(`${describeMachine()}\n${minutes} minutes, memory from minute ${(warmUpMs / MINUTE_MS).toFixed(1)} on`);

const ledger = createLedger();
const signal = AbortSignal.timeout(minutes * MINUTE_MS);
const [tally, injected, memory] = await Promise.all([
  runClients({ url: service.url, ledger, signal }),
  injectFaults(createFaults({ service, postgres, redis }), signal),
  watchMemory(service, signal),
]);
const losses = ledger.losses(await readAll(service.url));
const exitCode = await service.stop();

const verdicts: readonly Judged[] = [
  {
    claim: "no acknowledged write is lost",
    holds: losses.length === 0,
    evidence: `${ledger.acknowledged} acknowledged; ${losses.slice(0, 5).join("; ") || "all are as they were said to be"}`,
  },
  judgeFailures(service.failures, injected),
  judgeConnections(tally),
  ...judgeMemory(memory.samples, memory.heaps),
  { claim: "it stops in order", holds: exitCode === 0, evidence: `exit code ${exitCode}` },
];
const statuses = [...tally.statuses]
  .sort(([a], [b]) => a - b)
  .map(([status, count]) => `${status}: ${count}`);
print(`\n${service.requests()} requests; answers ${statuses.join(", ")}`);
for (const remark of new Set(service.remarks)) print(`  ${remark}`);
for (const { claim, holds, evidence } of verdicts)
  print(`${holds ? "holds " : "FAILS "} ${claim}: ${evidence}`);
print(describeMachine());
process.exitCode = verdicts.every(({ holds }) => holds) ? 0 : 1;
