/**
 * `bun run soak [--minutes 10]`: runs the service on PostgreSQL and Redis under a mixed load with one fault per minute, and
 * prints a report. The exit code is 1 if a write was lost, memory grew or an error is not explained by a fault.
 */
import { setTimeout } from "node:timers/promises";
import { describeMachine } from "@latchkey/cli";
import type { TodoPage } from "@latchkey/contracts";
import { parseOptions, print } from "@latchkey/testing/benchmark";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { AcknowledgedTodos, type TodoContent } from "./acknowledged-todos.ts";
import { type CheckResult, checkErrors, checkMemory, type InjectedFault, type Sample } from "./checks.ts";
import { runClients } from "./clients.ts";
import { createFaults, type Fault } from "./faults.ts";
import { type Heap, type SoakedService, startSoakedService } from "./service.ts";

const { minutes } = parseOptions({ minutes: 10 });
if (!(minutes >= 1)) {
  process.stderr.write("Usage: bun run soak [--minutes N], where N is at least 1\n");
  process.exit(64);
}
const MINUTE_MS = 60_000;
const SAMPLE_INTERVAL_MS = 2_000;
/** Memory is not sampled while code is compiled and caches fill; shorter in a short soak. */
const warmUpMs = Math.min(3, minutes / 3) * MINUTE_MS;

const clock = (): string => `${(performance.now() / MINUTE_MS).toFixed(1).padStart(5)} min`;

/** Injects one fault per minute, 20 seconds after its start; each ends before the next starts. */
async function injectFaults(faults: readonly Fault[], signal: AbortSignal): Promise<InjectedFault[]> {
  const injected: InjectedFault[] = [];
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

/** Samples the resident memory, and the heap once a minute, after the warm-up. */
async function watchMemory(service: SoakedService, signal: AbortSignal) {
  const samples: Sample[] = [];
  const heaps: Heap[] = [];
  await pause(warmUpMs, signal);
  while (!signal.aborted) {
    heaps.push(await service.measureHeap());
    const minuteEnds = performance.now() + MINUTE_MS;
    while (performance.now() < minuteEnds && !signal.aborted) {
      samples.push({ atMs: performance.now(), residentBytes: await service.residentBytes() });
      await pause(SAMPLE_INTERVAL_MS, signal);
    }
  }
  heaps.push(await service.measureHeap());
  return { samples, heaps };
}

/** Reads all todos. */
async function readAll(url: string): Promise<Map<number, TodoContent>> {
  const todos = new Map<number, TodoContent>();
  let cursor = "";
  for (;;) {
    const response = await fetch(`${url}/todos?limit=100${cursor}`);
    const page = (await response.json()) as TodoPage;
    for (const { id, title, completed } of page.items) todos.set(id, { title, completed });
    if (page.next_cursor === null) return todos;
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`;
  }
}

/** Resolves after this time, or when the soak ends. */
const pause = (durationMs: number, signal: AbortSignal): Promise<unknown> =>
  setTimeout(Math.max(0, durationMs), undefined, { signal }).catch(() => null);

await using postgres = await startPostgresServer();
await using redis = await startRedisServer();
if (redis === null) print("redis-server is not installed: the soak runs without Redis.");
await using service = await startSoakedService({
  DATABASE_URL: await postgres.createDatabase(),
  AUTH_SECRET_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(48))).toString("base64url"),
  RATE_LIMIT_DEFAULT: "999999999/hour",
  RATE_LIMIT_LOGIN: "999999999/hour",
  RATE_LIMIT_REGISTER: "999999999/hour",
  METRICS_PORT: "0",
  ...(redis && { REDIS_URL: redis.url }),
});
print(
  `${describeMachine()}\n${minutes} minutes; memory is sampled after ${(warmUpMs / MINUTE_MS).toFixed(1)} minutes`,
);

const acknowledged = new AcknowledgedTodos();
const signal = AbortSignal.timeout(minutes * MINUTE_MS);
const [results, injected, memory] = await Promise.all([
  runClients({ url: service.url, acknowledged, signal }),
  injectFaults(createFaults({ service, postgres, redis }), signal),
  watchMemory(service, signal),
]);
const differences = acknowledged.differences(await readAll(service.url));
const exitCode = await service.stop();

const { failedRequests } = results;
const checks: readonly CheckResult[] = [
  {
    check: "no acknowledged write is lost",
    passed: differences.length === 0,
    evidence: `${acknowledged.writes} acknowledged writes; ${differences.slice(0, 5).join("; ") || "no differences"}`,
  },
  checkErrors(service.errors, injected),
  {
    check: "every request got a response",
    passed: failedRequests.length === 0,
    evidence:
      failedRequests.length === 0
        ? "no request failed"
        : `${failedRequests.length} failed, the first: ${failedRequests[0]}`,
  },
  ...checkMemory(memory.samples, memory.heaps),
  { check: "the service stops with exit code 0", passed: exitCode === 0, evidence: `exit code ${exitCode}` },
];
const statuses = [...results.statuses]
  .sort(([a], [b]) => a - b)
  .map(([status, count]) => `${status}: ${count}`);
print(`\n${service.requests()} requests; responses ${statuses.join(", ")}`);
for (const warning of new Set(service.warnings)) print(`  ${warning}`);
for (const { check, passed, evidence } of checks) print(`${passed ? "pass" : "FAIL"}  ${check}: ${evidence}`);
print(describeMachine());
process.exitCode = checks.every(({ passed }) => passed) ? 0 : 1;
