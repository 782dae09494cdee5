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

/** Takes milliseconds, compared to which the call takes no time. */
const ITERATIONS_PER_CALL = 20_000;

/**
 * Starts at the same time as all other threads, so that none has a core for itself.
 * @param ready the number of threads that are ready, in shared memory
 */
function measure({ path, id, width, threads, seconds }: KernelLoop, ready: Int32Array): number {
  const addon = loadAddon(path);
  const state = new Uint32Array(LANE_WORDS * width);
  const lanes = Uint32Array.from({ length: width }, (_, lane) => lane);
  for (const lane of lanes) addon.prepare(state, lane, new Uint8Array(8), Uint8Array.of(lane));
  Atomics.add(ready, 0, 1);
  Atomics.notify(ready, 0);
  for (let count = 0; count < threads; count = Atomics.load(ready, 0)) Atomics.wait(ready, 0, count);
  const startedMs = performance.now();
  for (let calls = 1; ; calls++) {
    addon.advance(id, state, lanes, ITERATIONS_PER_CALL, null);
    const elapsed = (performance.now() - startedMs) / 1000;
    if (elapsed >= seconds) return (calls * ITERATIONS_PER_CALL * width) / STORED_ITERATIONS / elapsed;
  }
}

if (isMainThread) {
  const loop: KernelLoop = JSON.parse(process.argv[2] ?? "");
  const ready = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const rates = Array.from({ length: loop.threads }, () => {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const worker = new Worker(new URL(import.meta.url), { workerData: { loop, ready } });
    worker.once("message", resolve).once("error", reject);
    return promise;
  });
  const perSecond = (await Promise.all(rates)).reduce((sum, rate) => sum + rate, 0);
  process.stdout.write(String(perSecond));
} else {
  parentPort?.postMessage(measure(workerData.loop, workerData.ready));
}
