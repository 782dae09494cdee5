/**
 * Compares logins over HTTP with the hashing core alone, and `/healthz` during the logins with an idle service. Each round
 * measures all of them, because the speed of a shared machine changes. The hashing core runs in this process.
 */
import { join } from "node:path";
import { createHasher } from "@latchkey/hashing";
import {
  interleave,
  median,
  metOrMissed,
  parseOptions,
  print,
  printRow,
  ratios,
} from "@latchkey/testing/benchmark";
import { closedLoopRate, startService } from "@latchkey/testing/measured-service";
import { $ } from "bun";

const { rounds, seconds, clients } = parseOptions({ rounds: 5, seconds: 20, clients: 48 });

const LOADTEST = join(import.meta.dir, "../../loadtest/src/main.ts");
/** The same as the load tester's: the first derivations are not measured. */
const WARM_UP_SECONDS = 1;
const TARGETS = { rateRatio: 0.93, increaseMs: 1, probeMs: 5 } as const;

/** Returns the derivations per second without HTTP, with the same number of callers and workers. */
const measureHasherRate = (): Promise<number> =>
  closedLoopRate({ clients, seconds, warmUpSeconds: WARM_UP_SECONDS }, () =>
    hasher.hash("a password for the benchmark"),
  );

/** The members of the load tester's `--json` output that are used here. */
interface Run {
  readonly all: { readonly perSecond: number };
  /** `/healthz`, requested every 5 ms over a separate connection; milliseconds. */
  readonly probe: { readonly latency: { readonly p99: number } | null };
}

function runLoadTest(options: Readonly<Record<string, string | number>>): Promise<Run> {
  const flags = Object.entries({ url: service.url, ...options }).flatMap(([name, value]) => [
    `--${name}`,
    String(value),
  ]);
  return $`${process.execPath} ${LOADTEST} ${flags} --json`.json();
}

const p99Of = ({ probe }: Run): number => probe.latency?.p99 ?? Number.NaN;
const logIns = (duration: number): Promise<Run> =>
  runLoadTest({ concurrency: clients, users: clients, duration });
/** Nearly idle, so that the same program measures the probe in both cases. */
const idle = (): Promise<Run> =>
  runLoadTest({ scenario: "read", rate: 1, arrivals: "constant", users: 1, duration: seconds });

await using hasher = createHasher();
await hasher.ready();
const { workers, kernel } = hasher.stats();
await using service = await startService({ RATE_LIMIT_ENABLED: "false", HASH_WORKERS: String(workers) });
print(`${rounds} rounds of ${seconds} s each; ${clients} clients, ${workers} workers, kernel ${kernel}\n`);

// Creates the users and compiles the code before the first round.
await logIns(1);
const results = await interleave(
  { hasher: measureHasherRate, idle, logIns: () => logIns(seconds) },
  { rounds },
);
const rates = results.logIns.map(({ all }) => all.perSecond);
const [idleP99s, saturatedP99s] = [results.idle.map(p99Of), results.logIns.map(p99Of)];
const rateRatios = ratios(rates, results.hasher);
const increases = saturatedP99s.map((p99, round) => p99 - (idleP99s[round] ?? Number.NaN));
printRow("hashing core alone, /s", results.hasher);
printRow("logins over HTTP, /s", rates);
printRow("  ratio", rateRatios, { digits: 3 });
printRow("/healthz p99 idle, ms", idleP99s, { digits: 2 });
printRow("/healthz p99 saturated, ms", saturatedP99s, { digits: 2 });
printRow("  increase, ms", increases, { digits: 2 });

const { rateRatio, increaseMs, probeMs } = TARGETS;
const isFast = median(rateRatios) >= rateRatio;
print(`\nat least ${100 * rateRatio} % of the hashing core's rate: ${metOrMissed(isFast)}`);
print(`p99 at most ${increaseMs} ms above idle: ${metOrMissed(median(increases) <= increaseMs)}`);
print(`each p99 below ${probeMs} ms: ${metOrMissed(saturatedP99s.every((p99) => p99 < probeMs))}`);
