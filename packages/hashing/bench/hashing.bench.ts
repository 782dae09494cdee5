/**
 * `bun run bench hashing [--rounds N] [--seconds S]`: compares the pool with its kernel in a C loop and with crypto.pbkdf2
 * on all cores. The candidates alternate within each round, because the speed of a shared machine changes by the minute.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { describeMachine } from "@latchkey/cli";
import { kernels } from "../src/index.ts";
import { type KernelVariant, LANE_WORDS, loadAddon } from "../src/kernel/addon.ts";
import { probeNativeKernels } from "../src/kernel/probe.ts";
import { type Contender, crypto, ITERATIONS, kernelLoopRate, openPool, secondsFor } from "./contenders.ts";

const options = {
  rounds: { type: "string", default: "5" },
  seconds: { type: "string", default: "2" },
} as const;
const { values } = parseArgs({ options });
/** A single derivation is short, so a row is the mean of several. */
const SEQUENTIAL_DERIVATIONS = 10;
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);

/** Runs every entry once per round, alternating. */
async function interleave<Name extends string>(entries: Record<Name, () => number | Promise<number>>) {
  const names = Object.keys(entries) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of names) results[name].push(await entries[name]());
  }
  return results;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

interface Row {
  readonly name: string;
  readonly unit: string;
  readonly rounds: readonly number[];
  /** The baseline of the ratio at the end of the row. */
  readonly baseline?: { readonly name: string; readonly rounds: readonly number[] };
}

/** Prints the median and every round. The ratio compares round by round, because the machine's speed changes over time. */
function printRow({ name, unit, rounds, baseline }: Row): void {
  const each = rounds.map((value) => value.toFixed(1)).join(" ");
  const ratios = rounds.map((value, round) => value / (baseline?.rounds[round] ?? Number.NaN));
  const ratio = baseline ? `  ${median(ratios).toFixed(2)} × ${baseline.name}` : "";
  print(`  ${name.padEnd(26)} ${median(rounds).toFixed(1).padStart(7)} ${unit} (${each})${ratio}`);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

const status = probeNativeKernels();
const variants: readonly KernelVariant[] = status.available ? status.variants : [];
const kernelNames = kernels().map(({ name }) => name);
print(describeMachine());
print(`kernels: ${kernelNames.join(", ")}\n`);

await using auto = openPool("auto");
const workers = auto.hasher.stats().workers;
await secondsFor(auto, 1);

if (status.available) {
  print("one kernel on one core, ms of processor time per derivation with all lanes busy");
  const addon = loadAddon(status.path);
  const measure = ({ id, width }: KernelVariant): number => {
    const [state, lanes] = [new Uint32Array(LANE_WORDS * width), new Uint32Array(width)];
    for (const lane of lanes.keys()) {
      lanes[lane] = lane;
      addon.prepare(state, lane, new Uint8Array(8), new Uint8Array(8));
    }
    return (10_000 * addon.advance(id, state, lanes, ITERATIONS / 10, null)) / width;
  };
  const nameOf = ({ family, width }: KernelVariant) => `${family} × ${width}`;
  const results = await interleave(
    Object.fromEntries(variants.map((variant) => [nameOf(variant), () => measure(variant)])),
  );
  const baseline = { name: "sha-ni × 4", rounds: results["sha-ni × 4"] ?? [] };
  for (const name of variants.map(nameOf)) {
    printRow({
      name,
      unit: "ms",
      rounds: results[name] ?? [],
      ...(baseline.rounds.length > 0 && { baseline }),
    });
  }
}

print(`\none derivation alone, ms, mean of ${SEQUENTIAL_DERIVATIONS} in sequence`);
const meanMs = async (contender: Contender): Promise<number> => {
  let total = 0;
  for (let index = 0; index < SEQUENTIAL_DERIVATIONS; index++) total += await secondsFor(contender, 1);
  return (1000 * total) / SEQUENTIAL_DERIVATIONS;
};
await meanMs(auto);
const alone = await interleave({ pool: () => meanMs(auto), crypto: () => meanMs(crypto) });
printRow({ name: "crypto.pbkdf2", unit: "ms", rounds: alone.crypto });
printRow({
  name: "pool",
  unit: "ms",
  rounds: alone.pool,
  baseline: { name: "crypto", rounds: alone.crypto },
});

print(`\nsaturated, derivations/s on ${workers} workers`);
for (const name of [...kernelNames, "auto"]) {
  await using pool = openPool(name);
  await secondsFor(pool, 1);
  const { lanes, capacityPerSecond, kernel: family } = pool.hasher.stats();
  // A multiple of the lanes, so that no lane is empty at the end while others are still running.
  const derivations = lanes * Math.max(1, Math.ceil((seconds * capacityPerSecond) / lanes));
  const [widest] = variants.filter((variant) => variant.family === family).sort((a, b) => b.width - a.width);
  const runLoop = (): number =>
    status.available && widest
      ? kernelLoopRate({ ...widest, path: status.path, threads: workers, seconds })
      : Number.NaN;
  const results = await interleave({
    pool: async () => derivations / (await secondsFor(pool, derivations)),
    loop: runLoop,
    crypto: async () => (seconds * 15 * workers) / (await secondsFor(crypto, seconds * 15 * workers)),
  });
  const row = { name: pool.name, unit: "/s", rounds: results.pool };
  printRow({ name: "crypto.pbkdf2", unit: "/s", rounds: results.crypto });
  if (widest) {
    printRow({ name: `C loop, ${family} × ${widest.width}`, unit: "/s", rounds: results.loop });
    printRow({ ...row, baseline: { name: "C loop", rounds: results.loop } });
  }
  printRow({ ...row, baseline: { name: "crypto", rounds: results.crypto } });
}

print("\nconcurrent jobs, ms until the last one has finished");
for (const jobs of [2, 8, 32, 200]) {
  const results = await interleave({
    pool: async () => 1000 * (await secondsFor(auto, jobs)),
    crypto: async () => 1000 * (await secondsFor(crypto, jobs)),
  });
  printRow({ name: `crypto.pbkdf2, ${jobs} jobs`, unit: "ms", rounds: results.crypto });
  const baseline = { name: "crypto", rounds: results.crypto };
  printRow({ name: `pool, ${jobs} jobs`, unit: "ms", rounds: results.pool, baseline });
}

print("\nevent loop delay, ms");
for (const [name, load] of [
  ["idle", null],
  ["saturated", auto],
] as const) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  if (load) await secondsFor(load, Math.ceil(seconds * load.hasher.stats().capacityPerSecond));
  else await Bun.sleep(seconds * 1000);
  delay.disable();
  const percentiles = [50, 90, 99, 99.9, 100].map((p) => `p${p} ${(delay.percentile(p) / 1e6).toFixed(2)}`);
  print(`  ${name.padEnd(26)} ${percentiles.join("  ")}`);
}
