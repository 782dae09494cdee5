/**
 * `bun run bench overload [--seconds 60] [--ignored 10] [--factor 3]`: an open loop of logins above the capacity, which is
 * measured first with closed-loop clients. A separate process requests `/healthz` every 5 ms meanwhile.
 */
import { join } from "node:path";
import { describeMachine } from "@latchkey/cli";
import { openFolder } from "@latchkey/testing/folder";
import { post, startProcess } from "@latchkey/testing/service-process";
import { parseOptions, print } from "./support/options.ts";

const { seconds, ignored, factor, clients } = parseOptions({
  seconds: 60,
  ignored: 10,
  factor: 3,
  clients: 64,
});

const LOADTEST = join(import.meta.dir, "../../loadtest/src/main.ts");
const PROMPT_MS = 1000;
const BURST_SECONDS = 2;
const TARGETS = { promptPercent: 90, probeMs: 5 } as const;
const USER = { email: "bench@example.org", username: "bench", password: "correct horse battery" };

interface Login {
  readonly sentMs: number;
  readonly status: number;
  readonly ms: number;
}

async function logIn(): Promise<Login> {
  const sentMs = performance.now();
  const response = await post(`${url}/auth/login`, USER);
  await response.arrayBuffer();
  return { sentMs, status: response.status, ms: performance.now() - sentMs };
}

/** Returns the logins per second of a closed loop. */
async function measureCapacity(): Promise<number> {
  const countedFrom = performance.now() + 1000;
  const endsAt = countedFrom + 5000;
  let counted = 0;
  const client = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      const { sentMs, ms } = await logIn();
      if (sentMs + ms >= countedFrom && sentMs + ms < endsAt) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return counted / 5;
}

/** Sends logins on schedule, regardless of earlier responses; returns those of the counted time. */
async function openLoop(perSecond: number): Promise<Login[]> {
  const logins: Promise<Login>[] = [];
  const startedMs = performance.now();
  for (let due = 0; due < perSecond * seconds; due++) {
    await Bun.sleep(Math.max(0, startedMs + (1000 * due) / perSecond - performance.now()));
    logins.push(logIn());
  }
  const countedFrom = startedMs + 1000 * ignored;
  return (await Promise.all(logins)).filter(({ sentMs }) => sentMs >= countedFrom);
}

/** The p99 of `/healthz` in milliseconds, measured by the load tester. */
async function measureProbe(duration: number): Promise<number> {
  const flags = [
    "--scenario",
    "read",
    "--rate",
    "0.1",
    "--users",
    "1",
    "--duration",
    String(duration),
    "--json",
  ];
  const child = Bun.spawn([process.execPath, LOADTEST, "--url", url, ...flags], {
    stdout: "pipe",
    stderr: "inherit",
  });
  return probeOf(JSON.parse(await new Response(child.stdout).text()));
}

/** The member of the load tester's `--json` output that is used here. */
const probeOf = (run: { readonly probe: { readonly latency: { readonly p99: number } | null } }): number =>
  run.probe.latency?.p99 ?? Number.NaN;

function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

const result = (isMet: boolean): string => (isMet ? "met" : "missed");

await using folder = await openFolder();
await using service = startProcess(
  {
    DATABASE_URL: folder.databaseUrl,
    RATE_LIMIT_ENABLED: "false",
    HASH_WORKERS: String(navigator.hardwareConcurrency),
  },
  // A 503 is logged with its cause; there are thousands.
  { onLine: () => {} },
);
const url = await service.ready();
await post(`${url}/auth/register`, USER);
print(describeMachine());
const capacity = await measureCapacity();
print(`capacity ${capacity.toFixed(1)} logins/s in a closed loop of ${clients} clients`);

const burst = await Promise.all(Array.from({ length: Math.round(BURST_SECONDS * capacity) }, logIn));
const failed = burst.filter(({ status }) => status !== 200).length;
print(`burst of ${burst.length} logins on an idle service: ${failed} failed: ${result(failed === 0)}`);

const [logins, probeMs] = await Promise.all([openLoop(factor * capacity), measureProbe(seconds)]);
const answered = logins.filter(({ status }) => status === 200);
const prompt = answered.filter(({ ms }) => ms <= PROMPT_MS).length;
const shed = logins.filter(({ status }) => status === 503).map(({ ms }) => ms);
const counted = seconds - ignored;
const percent = (count: number): number => (100 * count) / (capacity * counted);
const others = logins.length - answered.length - shed.length;
print(`${factor} times the capacity, from second ${ignored} to ${seconds}:`);
print(
  `  200 within 1 s  ${percent(prompt).toFixed(1)} % of the capacity: ${result(percent(prompt) >= TARGETS.promptPercent)}`,
);
print(
  `  200             ${percent(answered.length).toFixed(1)} %; p50 ${percentile(
    answered.map(({ ms }) => ms),
    50,
  ).toFixed(0)} ms`,
);
print(
  `  503             ${shed.length}; p99 ${percentile(shed, 99).toFixed(0)} ms: ${result(percentile(shed, 99) <= PROMPT_MS)}`,
);
print(`  other statuses  ${others}`);
print(`  /healthz        p99 ${probeMs.toFixed(2)} ms: ${result(probeMs < TARGETS.probeMs)}`);
print(describeMachine());
