/**
 * Compares the pool with crypto.pbkdf2 on all cores, and hashes of 600,000 iterations alone with a mix of them and of Django's
 * 260,000. The candidates alternate within each round, because the speed of a shared machine changes by the minute.
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
const JOBS = [1, 2, 8, 32];
/** A few derivations are short, so a figure is the mean of several bursts. */
const MIN_DERIVATIONS = 10;
const cryptoPbkdf2 = promisify(pbkdf2);

type Derive = (iterations?: number) => Promise<unknown>;

const withCrypto: Derive = (iterations = STORED_ITERATIONS) =>
  cryptoPbkdf2(PASSWORD, new Uint8Array(32), iterations, 32, "sha256");

/**
 * Iterations per second, in derivations of 600,000, while all lanes are busy: from the end of the first of each lane to that
 * of the last but one. The derivations have the iterations of `mix` in turn.
 */
async function saturatedRate(derive: Derive, lanes: number, perSecond: number, mix = [STORED_ITERATIONS]) {
  const derivations = lanes * Math.max(1, Math.ceil((seconds * perSecond) / lanes));
  const completed: { readonly ms: number; readonly iterations: number }[] = [];
  const run = async (_: unknown, index: number) => {
    const iterations = mix[index % mix.length] ?? STORED_ITERATIONS;
    await derive(iterations);
    completed.push({ ms: performance.now(), iterations });
  };
  await Promise.all(Array.from({ length: derivations + 2 * lanes }, run));
  const counted = completed.slice(lanes, -lanes).reduce((sum, { iterations }) => sum + iterations, 0);
  const elapsedMs = (completed.at(-lanes - 1)?.ms ?? 0) - (completed[lanes - 1]?.ms ?? 0);
  return (1000 * counted) / STORED_ITERATIONS / elapsedMs;
}

/** The time until the last of jobs that arrive together has finished. */
async function burst(derive: Derive, jobs: number): Promise<number> {
  const repetitions = Math.ceil(MIN_DERIVATIONS / jobs);
  const startedMs = performance.now();
  for (let repetition = 0; repetition < repetitions; repetition++)
    await Promise.all(Array.from({ length: jobs }, () => derive()));
  return (performance.now() - startedMs) / repetitions;
}

await using resources = new AsyncDisposableStack();
const tasks: Record<string, () => Promise<number>> = {};
let auto = withCrypto;
for (const kernel of [...kernels().map(({ name }) => name), "auto"]) {
  const hasher = resources.use(createHasher({ kernel, queueLimit: 100_000, queueSeconds: 3600 }));
  // One after another, because the workers measure the kernels when they start.
  await hasher.ready();
  const { lanes, capacityPerSecond, workers } = hasher.stats();
  const given = { password: Buffer.from(PASSWORD), salt: new Uint8Array(32) };
  const derive: Derive = (iterations = STORED_ITERATIONS) => hasher.derive({ ...given, iterations });
  const rateOf = (...mix: number[]) => saturatedRate(derive, lanes, capacityPerSecond, mix);
  tasks[`pool ${kernel}`] = () => rateOf(STORED_ITERATIONS);
  tasks.mixed = () => rateOf(STORED_ITERATIONS, 260_000);
  // About 15 on one core.
  tasks["crypto.pbkdf2"] = () => saturatedRate(withCrypto, workers, 15 * workers);
  auto = derive;
}

print("saturated, derivations/s");
const { "crypto.pbkdf2": crypto = [], mixed = [], ...pools } = await interleave(tasks, { rounds });
printRow("crypto.pbkdf2", crypto);
for (const [name, rates] of Object.entries(pools)) printRow(name, rates, { baselines: { crypto } });

print("\nsaturated, in derivations of 600,000 iterations/s");
const { "pool auto": own = [] } = pools;
printRow("600,000 iterations", own);
printRow("every other one 260,000", mixed, { baselines: { own } });

print("\nderivations that arrive together, ms");
for (const jobs of JOBS) {
  const tasks = { pool: () => burst(auto, jobs), crypto: () => burst(withCrypto, jobs) };
  const { pool, crypto } = await interleave(tasks, { rounds });
  const name = jobs === 1 ? "one derivation alone" : `last of ${jobs}`;
  printRow(`crypto.pbkdf2, ${name}`, crypto);
  printRow(`pool, ${name}`, pool, { baselines: { crypto } });
}
