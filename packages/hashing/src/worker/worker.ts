/** The entry point of a hashing worker: runs its kernel slice by slice and receives messages from the pool in between. */
import { parentPort, workerData } from "node:worker_threads";
import { createQuotaThrottle } from "../cpu-quota.ts";
import { loadAddon } from "../kernel/addon.ts";
import type { Throughput } from "../kernel/kernel.ts";
import { NativeKernel } from "../kernel/native-kernel.ts";
import { PortableKernel } from "../kernel/portable-kernel.ts";
import type { FromWorker, ToWorker, WorkerSetup } from "../protocol.ts";
import { Lanes } from "./lanes.ts";
import { ThroughputMeter } from "./throughput-meter.ts";

if (!parentPort) throw new Error("worker.ts must be started as a worker thread");
const port = parentPort;
const { kernel: choice, nice, quota }: WorkerSetup = workerData;
const kernel =
  choice.kind === "portable"
    ? new PortableKernel()
    : new NativeKernel(loadAddon(choice.path), choice.variants, nice);
const meter = new ThroughputMeter((quota?.share ?? 1) * kernel.throughput().capacityPerSecond);
const lanes = new Lanes(kernel, meter);
const throttle = quota && createQuotaThrottle(quota);
/** No thread notifies this cell: a wait pauses this thread until the timeout. */
const pause = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
let running = false;

const send = (message: FromWorker) => port.postMessage(message);
const throughput = (): Throughput => ({ ...kernel.throughput(), capacityPerSecond: meter.perSecond });

/** Runs one slice and schedules the next one after a turn of the event loop, in which new jobs arrive. */
function runSlice(): void {
  const startedMs = performance.now();
  const { jobs, seconds } = lanes.runSlice();
  if (jobs.length > 0) send({ kind: "done", jobs, throughput: throughput() });
  running = !lanes.isIdle;
  if (running) setImmediate(runSlice);
  // An idle worker pauses as well: otherwise, a stream of short jobs would exceed the quota.
  const elapsedMs = performance.now() - startedMs;
  if (throttle) Atomics.wait(pause, 0, 0, throttle({ usedMs: 1000 * seconds, elapsedMs }));
}

port.on("message", (message: ToWorker) => {
  // Only the open port keeps the thread alive.
  if (message.kind === "close") return port.close();
  lanes.push(message);
  if (running) return;
  running = true;
  // Starts after this turn of the event loop, because jobs that were posted together should start in the same slice.
  setImmediate(runSlice);
});

// Wipes the lanes even after an uncaught exception.
process.on("exit", () => lanes.clear());
send({ kind: "ready", throughput: throughput() });
