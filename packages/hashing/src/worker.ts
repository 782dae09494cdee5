/** Entry of a hashing thread: runs its kernel slice by slice and, between slices, hears the pool. */
import { parentPort, workerData } from "node:worker_threads";
import { createKernel } from "./kernel/create.ts";
import { Lanes } from "./lanes.ts";
import { Pacing } from "./pacing.ts";
import type { FromWorker, ToWorker, WorkerSetup } from "./protocol.ts";

if (!parentPort) throw new Error("worker.ts must be started as a worker thread");
const port = parentPort;
const setup: WorkerSetup = workerData;
const kernel = createKernel(setup);
const lanes = new Lanes(kernel);
const pacing = new Pacing(setup.share);
let running = false;

const send = (message: FromWorker) => port.postMessage(message);

/** One slice, then a turn of the event loop, in which new jobs arrive. */
function turn(): void {
  const started = performance.now();
  const jobs = lanes.turn();
  if (jobs.length > 0) send({ kind: "left", jobs, pace: kernel.pace() });
  running = !lanes.idle;
  if (!running) return;
  const pauseMs = pacing.pauseMs(performance.now() - started);
  if (pauseMs > 0) setTimeout(turn, pauseMs);
  else setImmediate(turn);
}

port.on("message", (message: ToWorker) => {
  if (message.kind === "close") {
    lanes.clear();
    // The port keeps the thread alive; without it the thread ends by itself.
    port.close();
    return;
  }
  lanes.push(message);
  if (running) return;
  running = true;
  // Not at once: jobs posted together start in the same slice.
  setImmediate(turn);
});

send({ kind: "ready", pace: kernel.pace() });
