/**
 * Preloaded into the service under soak. On SIGUSR1 it terminates a hash worker; on SIGUSR2 it collects garbage and logs
 * the size of the heap.
 */
import { heapStats } from "bun:jsc";
import { Worker } from "node:worker_threads";

const workers = new Set<Worker>();
const post = Worker.prototype.postMessage;
Worker.prototype.postMessage = function (...message) {
  workers.add(this);
  post.apply(this, message);
};

process.on("SIGUSR1", () => {
  const [worker] = workers;
  if (worker === undefined) return;
  workers.delete(worker);
  void worker.terminate();
});

process.on("SIGUSR2", () => {
  Bun.gc(true);
  const { heapSize, objectCount } = heapStats();
  process.stdout.write(`${JSON.stringify({ msg: "heap", bytes: heapSize, objects: objectCount })}\n`);
});
