/**
 * Compares the pool with crypto.pbkdf2 on all cores. The candidates alternate within each round, because the speed of a shared
 * machine changes by the minute.
 */
import { pbkdf2 } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { interleave, parseOptions, print, printRow } from "@latchkey/testing/benchmark";
import { CHECKOUT } from "@latchkey/testing/repository";
import type * as Hashing from "../src/index.ts";
import { STORED_ITERATIONS } from "../src/stored-hash.ts";

const { rounds, seconds } = parseOptions({ rounds: 5, seconds: 2 });
const { createHasher, kernels }: typeof Hashing = await import(
  join(CHECKOUT, "packages/hashing/src/index.ts")
);
const PASSWORD = "correct horse battery staple";
const JOBS = [1, 32];
/** A few derivations are short, so a figure is the mean of several bursts. */
const MIN_DERIVATIONS = 10;
const cryptoPbkdf2 = promisify(pbkdf2);

type Derive = () => Promise<unknown>;

const withCrypto: Derive = () => cryptoPbkdf2(PASSWORD, new Uint8Array(32), STORED_ITERATIONS, 32, "sha256");

/** Derivations per second while all lanes are busy: from the end of the first of each lane to that of the last but one. */
async function saturatedRate(derive: Derive, lanes: number, perSecond: number) {
  const derivations = lanes * Math.max(1, Math.ceil((seconds * perSecond) / lanes));
  const completedMs: number[] = [];
  const run = async () => {
    await derive();
    completedMs.push(performance.now());
  };
  await Promise.all(Array.from({ length: derivations + 2 * lanes }, run));
  return (1000 * derivations) / ((completedMs.at(-lanes - 1) ?? 0) - (completedMs[lanes - 1] ?? 0));
}

/** The mean time of jobs that arrive together, in milliseconds. */
async function burst(derive: Derive, jobs: number): Promise<number> {
  const repetitions = Math.ceil(MIN_DERIVATIONS / jobs);
  let sum = 0;
  for (let repetition = 0; repetition < repetitions; repetition++) {
    const startedMs = performance.now();
    const run = async () => {
      await derive();
      sum += performance.now() - startedMs;
    };
    await Promise.all(Array.from({ length: jobs }, run));
  }
  return sum / jobs / repetitions;
}

await using resources = new AsyncDisposableStack();
const saturated: Record<string, () => Promise<number>> = {};
let auto = withCrypto;
for (const kernel of [...kernels().map(({ name }) => name), "auto"]) {
  const hasher = resources.use(createHasher({ kernel, queueLimit: 100_000, queueSeconds: 3600 }));
  // One after another, because the workers measure the kernels when they start.
  await hasher.ready();
  const { lanes, capacityPerSecond, workers } = hasher.stats();
  const job = { password: Buffer.from(PASSWORD), salt: new Uint8Array(32), iterations: STORED_ITERATIONS };
  const derive: Derive = () => hasher.derive(job);
  saturated[`pool ${kernel}`] = () => saturatedRate(derive, lanes, capacityPerSecond);
  // About 15 on one core.
  saturated["crypto.pbkdf2"] = () => saturatedRate(withCrypto, workers, 15 * workers);
  auto = derive;
}

print("saturated, derivations/s");
const { "crypto.pbkdf2": saturatedCrypto = [], ...pools } = await interleave(saturated, { rounds });
printRow("crypto.pbkdf2", saturatedCrypto);
for (const [name, rates] of Object.entries(pools))
  printRow(name, rates, { baselines: { crypto: saturatedCrypto } });

print("\nderivations that arrive together, ms");
for (const jobs of JOBS) {
  const tasks = { pool: () => burst(auto, jobs), crypto: () => burst(withCrypto, jobs) };
  const { pool, crypto } = await interleave(tasks, { rounds });
  const name = jobs === 1 ? "one derivation alone" : `mean of ${jobs}`;
  printRow(`crypto.pbkdf2, ${name}`, crypto);
  printRow(`pool, ${name}`, pool, { baselines: { crypto } });
}
