/**
 * `kernel-loop.ts OPTIONS`, a KernelLoop as JSON: runs a kernel in a loop on several threads, without a pool, and prints its
 * derivations per second: the upper bound for a pool with this kernel.
 */
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { LANE_WORDS, loadAddon } from "../src/kernel/addon.ts";
import { STORED_ITERATIONS } from "../src/stored-hash.ts";

export interface KernelLoop {
  /** The addon's file. */
  readonly path: string;
  /** The id and the width of the kernel. */
  readonly id: number;
  readonly width: number;
  readonly threads: number;
  readonly seconds: number;
}

/** About 50 ms, compared to which the call takes no time. */
const ITERATIONS_PER_CALL = 20_000;
const loop: KernelLoop = isMainThread ? JSON.parse(process.argv[2] ?? "") : workerData;

function measure({ path, id, width, seconds }: KernelLoop): number {
  const addon = loadAddon(path);
  const state = new Uint32Array(LANE_WORDS * width);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, new Uint8Array(8), Uint8Array.of(lane));
  const startedMs = performance.now();
  for (let calls = 1; ; calls++) {
    addon.advance(id, state, lanes, ITERATIONS_PER_CALL, null);
    const elapsed = (performance.now() - startedMs) / 1000;
    if (elapsed >= seconds) return (calls * ITERATIONS_PER_CALL * width) / STORED_ITERATIONS / elapsed;
  }
}

if (isMainThread) {
  const rates = Array.from({ length: loop.threads }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    new Worker(new URL(import.meta.url), { workerData: loop }).once("message", resolve).once("error", reject);
    return promise;
  });
  const perSecond = (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
  process.stdout.write(String(perSecond));
} else {
  parentPort?.postMessage(measure(loop));
}
