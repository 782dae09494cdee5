/**
 * `timed-derivations.ts INDEX KERNEL burst JOBS | saturate SECONDS | poisson RATE SECONDS`: runs derivations with the package at INDEX
 * and prints their mean and p99 in milliseconds and their rate as JSON.
 */
import { percentile } from "@latchkey/testing/benchmark";
import type * as Hashing from "../src/index.ts";

const BURSTS = 5;
const [index = "", kernel = "auto", task = "", ...numbers] = process.argv.slice(2);
const [size = 0, seconds = 0] = numbers.map(Number);
/** No derivation is rejected. */
const queue = { queueLimit: 100_000, queueSeconds: 3600 };
// The checkouts that this is used with have these options and `hash`.
const { createHasher }: typeof Hashing = await import(index);
await using hasher = createHasher({ kernel, ...queue, ...(task === "burst" && { workers: 1 }) });
const times: number[] = [];

async function hash(): Promise<void> {
  const startedMs = performance.now();
  await hasher.hash("correct horse battery staple");
  times.push(performance.now() - startedMs);
}

const together = (count: number) => Promise.all(Array.from({ length: count }, hash));

/** The same arrivals in every run: mulberry32. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

async function poisson(rate: number): Promise<void> {
  const random = createRandom(1);
  const jobs: Promise<void>[] = [];
  const startedMs = performance.now();
  for (let dueMs = 0; dueMs < 1000 * seconds; dueMs += (-Math.log(1 - random()) * 1000) / rate) {
    await Bun.sleep(Math.max(0, startedMs + dueMs - performance.now()));
    jobs.push(hash());
  }
  await Promise.all(jobs);
}

await together(hasher.stats().lanes);
times.length = 0;
const startedMs = performance.now();
if (task === "burst") for (let burst = 0; burst < BURSTS; burst++) await together(size);
else if (task === "poisson") await poisson(size);
else while (performance.now() - startedMs < 1000 * size) await together(hasher.stats().lanes);
const elapsedMs = performance.now() - startedMs;
process.stdout.write(
  JSON.stringify({
    mean: times.reduce((sum, ms) => sum + ms, 0) / times.length,
    p99: percentile(times, 99),
    perSecond: (1000 * times.length) / elapsedMs,
  }),
);
