/**
 * Preloaded into the service under soak. On SIGUSR1 it terminates a hash worker; on SIGUSR2 it collects garbage and logs
 * how many objects are left.
 */
import { heapStats } from "bun:jsc";
import { Worker } from "node:worker_threads";

/** The engine drops compiled code that is not used and compiles it again, so the number of these objects varies. */
const CODE = /Code|Executable|SymbolTable|Structure/;
/** Until a second collection finds what the first one has detached: strings, by thousands. */
const SETTLED_MS = 100;

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

process.on("SIGUSR2", async () => {
  Bun.gc(true);
  await Bun.sleep(SETTLED_MS);
  Bun.gc(true);
  const types = Object.entries(heapStats().objectTypeCounts);
  const objects = types.reduce((sum, [type, count]) => (CODE.test(type) ? sum : sum + count), 0);
  process.stdout.write(`${JSON.stringify({ msg: "heap", objects })}\n`);
});
