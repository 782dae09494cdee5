/**
 * Compares the pool with its kernel in a loop and with crypto.pbkdf2 on all cores. The candidates alternate within each round,
 * because the speed of a shared machine changes by the minute.
 */
import { pbkdf2 } from "node:crypto";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { promisify } from "node:util";
import { interleave, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { $ } from "bun";
import { DEFAULT_NICE } from "../src/hasher.ts";
import { createHasher, kernels } from "../src/index.ts";
import { type KernelVariant, LANE_WORDS, loadAddon } from "../src/kernel/addon.ts";
import { probeNativeKernels } from "../src/kernel/probe.ts";
import { STORED_ITERATIONS } from "../src/stored-hash.ts";
import type { KernelLoop } from "./kernel-loop.ts";

const { rounds, seconds } = parseOptions({ rounds: 5, seconds: 2 });
/** A single derivation is short, so a row is the mean of several. */
const SEQUENTIAL_DERIVATIONS = 10;
const SALT = new Uint8Array(32).fill(7);
const PASSWORD = new TextEncoder().encode("correct horse battery staple");
const LOOP_PROGRAM = `${import.meta.dir}/kernel-loop.ts`;
const cryptoPbkdf2 = promisify(pbkdf2);

/** Runs one derivation with the iterations of a stored hash. */
type Derive = () => Promise<unknown>;

const deriveWithCrypto: Derive = () => cryptoPbkdf2(PASSWORD, SALT, STORED_ITERATIONS, 32, "sha256");

function openPool(kernel: string) {
  const hasher = createHasher({ kernel, queueLimit: 100_000, queueSeconds: 3600 });
  const job = { password: PASSWORD, salt: SALT, iterations: STORED_ITERATIONS };
  const derive: Derive = () => hasher.derive(job);
  return { hasher, derive, [Symbol.asyncDispose]: () => hasher.close() };
}

/** The seconds that this number of concurrent derivations takes. */
async function secondsFor(derive: Derive, derivations: number): Promise<number> {
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: derivations }, derive));
  return (performance.now() - startedMs) / 1000;
}

/** Derivations per second while all lanes are busy: from the end of the first of each lane to that of the last but one. */
async function saturatedRate(derive: Derive, lanes: number, perSecond: number): Promise<number> {
  const derivations = lanes * Math.max(1, Math.ceil((seconds * perSecond) / lanes));
  const completedMs: number[] = [];
  const run = async () => {
    await derive();
    completedMs.push(performance.now());
  };
  await Promise.all(Array.from({ length: derivations + 2 * lanes }, run));
  return (1000 * derivations) / ((completedMs.at(-lanes - 1) ?? 0) - (completedMs[lanes - 1] ?? 0));
}

/** Derivations per second of the kernel in a loop, at the pool's priority but without a pool or slices. */
const kernelLoopRate = async (loop: KernelLoop): Promise<number> =>
  Number(await $`nice -n ${DEFAULT_NICE} ${process.execPath} ${LOOP_PROGRAM} ${JSON.stringify(loop)}`.text());

const status = probeNativeKernels();
const variants: readonly KernelVariant[] = status.available ? status.variants : [];
const kernelNames = kernels().map(({ name }) => name);
print(`kernels: ${kernelNames.join(", ")}\n`);

await using auto = openPool("auto");
const { workers } = auto.hasher.stats();
await secondsFor(auto.derive, 1);

/** Prints the figures of crypto.pbkdf2 and of the pool. */
async function compareWithCrypto(suffix: string, measure: (derive: Derive) => Promise<number>) {
  const tasks = { pool: () => measure(auto.derive), crypto: () => measure(deriveWithCrypto) };
  const { pool, crypto } = await interleave(tasks, { rounds });
  printRow(`crypto.pbkdf2${suffix}`, crypto);
  printRow(`pool${suffix}`, pool, { baseline: { name: "crypto", values: crypto } });
}

if (status.available) {
  print("one kernel on one core, ms of processor time per derivation with all lanes busy");
  const addon = loadAddon(status.path);
  const measure = ({ id, width }: KernelVariant): number => {
    const [state, lanes] = [new Uint32Array(LANE_WORDS * width), new Uint32Array(width)];
    for (const lane of lanes.keys()) {
      lanes[lane] = lane;
      addon.prepare(state, lane, new Uint8Array(8), new Uint8Array(8));
    }
    return (10_000 * addon.advance(id, state, lanes, STORED_ITERATIONS / 10, null)) / width;
  };
  const tasks = variants.map(
    (variant) => [`${variant.family} × ${variant.width}`, () => measure(variant)] as const,
  );
  const results = await interleave(Object.fromEntries(tasks), { rounds });
  const { "sha-ni × 4": values } = results;
  const baseline = values && { name: "sha-ni × 4", values };
  for (const [name, milliseconds] of Object.entries(results))
    printRow(name, milliseconds, { ...(baseline && { baseline }) });
}

print(`\none derivation alone, ms, mean of ${SEQUENTIAL_DERIVATIONS} in sequence`);
const meanMs = async (derive: Derive): Promise<number> => {
  let total = 0;
  for (let index = 0; index < SEQUENTIAL_DERIVATIONS; index++) total += await secondsFor(derive, 1);
  return (1000 * total) / SEQUENTIAL_DERIVATIONS;
};
await meanMs(auto.derive);
await compareWithCrypto("", meanMs);

print(`\nsaturated, derivations/s on ${workers} workers`);
for (const name of [...kernelNames, "auto"]) {
  await using pool = openPool(name);
  await secondsFor(pool.derive, 1);
  const { lanes, capacityPerSecond, kernel: family } = pool.hasher.stats();
  const [widest] = variants.filter((variant) => variant.family === family).sort((a, b) => b.width - a.width);
  const loop = status.available && widest && { ...widest, path: status.path, threads: workers, seconds };
  const results = await interleave(
    {
      pool: () => saturatedRate(pool.derive, lanes, capacityPerSecond),
      loop: () => (loop ? kernelLoopRate(loop) : Number.NaN),
      // About 15 on one core.
      crypto: () => saturatedRate(deriveWithCrypto, workers, 15 * workers),
    },
    { rounds },
  );
  printRow("crypto.pbkdf2", results.crypto);
  if (loop) {
    printRow(`bare loop, ${family} × ${loop.width}`, results.loop);
    printRow(`pool ${name}`, results.pool, { baseline: { name: "bare loop", values: results.loop } });
  }
  printRow(`pool ${name}`, results.pool, { baseline: { name: "crypto", values: results.crypto } });
}

print("\nconcurrent jobs, ms until the last one has finished");
for (const jobs of [2, 8, 32, 200])
  await compareWithCrypto(`, ${jobs} jobs`, async (derive) => 1000 * (await secondsFor(derive, jobs)));

print("\nevent loop delay, ms");
const saturate = () => secondsFor(auto.derive, Math.ceil(seconds * auto.hasher.stats().capacityPerSecond));
for (const [name, load] of Object.entries({ idle: () => Bun.sleep(seconds * 1000), saturated: saturate })) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await load();
  delay.disable();
  const percentiles = [50, 90, 99, 99.9, 100].map((p) => `p${p} ${(delay.percentile(p) / 1e6).toFixed(2)}`);
  print(`  ${name.padEnd(36)} ${percentiles.join("  ")}`);
}
