/**
 * Compares logins over HTTP with the hashing core alone, and `/healthz` during the logins with an idle service. Each round
 * measures all of them, because the speed of a shared machine changes. The hashing core runs in this process.
 */
import { join } from "node:path";
import { describeMachine } from "@latchkey/cli";
import { createHasher } from "@latchkey/hashing";
import { openFolder } from "@latchkey/testing/folder";
import { startProcess } from "@latchkey/testing/service-process";
import { parseOptions, print } from "./support/options.ts";
import { median } from "./support/rank-test.ts";

const { rounds, seconds, clients } = parseOptions({ rounds: 5, seconds: 20, clients: 48 });

const LOADTEST = join(import.meta.dir, "../../loadtest/src/main.ts");
/** The same as the load tester's: the first derivations are not measured. */
const WARM_UP_MS = 1000;
const TARGETS = { rateRatio: 0.93, increaseMs: 1, probeMs: 5 } as const;

const row = (name: string, samples: readonly number[], digits: number): void =>
  print(
    `${name.padEnd(28)} ${median(samples).toFixed(digits)}; rounds ${samples.map((sample) => sample.toFixed(digits)).join(" ")}`,
  );

/** Returns the derivations per second without HTTP, with the same number of callers and workers. */
async function measureHasherRate(): Promise<number> {
  const countedFrom = performance.now() + WARM_UP_MS;
  const endsAt = countedFrom + seconds * 1000;
  let counted = 0;
  const caller = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await hasher.hash("a password for the benchmark");
      const now = performance.now();
      if (now >= countedFrom && now < endsAt) counted += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, caller));
  return counted / seconds;
}

/** The members of the load tester's `--json` output that are used here. */
interface Run {
  readonly all: { readonly perSecond: number };
  /** `/healthz`, requested every 5 ms over a separate connection; milliseconds. */
  readonly probe: { readonly latency: { readonly p99: number } | null };
}

function parseRun(json: string): Run {
  return JSON.parse(json);
}

async function runLoadTest(options: Readonly<Record<string, string | number>>): Promise<Run> {
  const flags = Object.entries({ url, ...options }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const cmd = [process.execPath, LOADTEST, ...flags, "--json"];
  const child = Bun.spawn({ cmd, stdout: "pipe", stderr: "pipe" });
  const [output, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if ((await child.exited) !== 0) throw new Error(errors);
  return parseRun(output);
}

const p99Of = ({ probe }: Run): number => probe.latency?.p99 ?? Number.NaN;
const logIns = (duration: number): Promise<Run> =>
  runLoadTest({ concurrency: clients, users: clients, duration });
/** Nearly idle, so that the same program measures the probe in both cases. */
const idle = (): Promise<Run> => runLoadTest({ scenario: "read", rate: 1, users: 1, duration: seconds });

await using folder = await openFolder();
await using hasher = createHasher();
await hasher.ready();
const { workers, kernel } = hasher.stats();
await using service = startProcess({
  DATABASE_URL: folder.databaseUrl,
  RATE_LIMIT_ENABLED: "false",
  HASH_WORKERS: String(workers),
});
const url = await service.ready();
print(describeMachine());
print(`${rounds} rounds of ${seconds} s each; ${clients} clients, ${workers} workers, kernel ${kernel}\n`);

const samples: Record<"hasher" | "http" | "idle" | "saturated", number[]> = {
  hasher: [],
  http: [],
  idle: [],
  saturated: [],
};
// Creates the users and compiles the code before the first round.
await logIns(1);
for (let round = 0; round < rounds; round++) {
  samples.hasher.push(await measureHasherRate());
  samples.idle.push(p99Of(await idle()));
  const load = await logIns(seconds);
  samples.http.push(load.all.perSecond);
  samples.saturated.push(p99Of(load));
}

const perRound = (compare: (round: number) => number): number[] =>
  Array.from({ length: rounds }, (_, i) => compare(i));
const ratios = perRound(
  (round) => (samples.http[round] ?? Number.NaN) / (samples.hasher[round] ?? Number.NaN),
);
const increases = perRound(
  (round) => (samples.saturated[round] ?? Number.NaN) - (samples.idle[round] ?? Number.NaN),
);
row("hashing core alone, /s", samples.hasher, 1);
row("logins over HTTP, /s", samples.http, 1);
row("  ratio", ratios, 3);
row("/healthz p99 idle, ms", samples.idle, 2);
row("/healthz p99 saturated, ms", samples.saturated, 2);
row("  increase, ms", increases, 2);

const result = (isMet: boolean): string => (isMet ? "met" : "missed");
print();
print(
  `at least ${100 * TARGETS.rateRatio} % of the hashing core's rate: ${result(median(ratios) >= TARGETS.rateRatio)}`,
);
print(`p99 at most ${TARGETS.increaseMs} ms above idle: ${result(median(increases) <= TARGETS.increaseMs)}`);
print(
  `each p99 below ${TARGETS.probeMs} ms: ${result(samples.saturated.every((p99) => p99 < TARGETS.probeMs))}`,
);
print(describeMachine());
