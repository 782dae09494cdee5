/** The native addon in several workers at once. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import type { AddonTask } from "../fixtures/addon-worker.ts";
import { referenceDigest } from "../support/derivation.ts";
import { describeNative } from "../support/native-addon.ts";
import { fixtureUrl } from "../support/open-pool.ts";

await describeNative("the addon in workers", ({ path, variants }) => {
  const last = variants.at(-1);
  if (!last) throw new Error("no kernel");
  const kernel = last.id;

  /** `result` is the first message; it rejects with the worker's error. */
  function start(task: AddonTask) {
    const worker = new Worker(fixtureUrl("addon-worker.ts"));
    const closed = new Promise((resolve) => worker.addEventListener("close", resolve));
    const result = new Promise<unknown>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
    });
    worker.postMessage(task);
    return {
      result,
      async [Symbol.asyncDispose]() {
        worker.terminate();
        await closed;
      },
    };
  }

  const derived = (password: string) => referenceDigest({ password, salt: "", iterations: 1_000 });

  /** The ids of the hashing threads in this process. */
  const hashingThreads = () => readdirSync("/proc/self/task").filter((id) => nameOf(id).startsWith("derive"));

  test.if(process.platform === "linux")(
    "ends a low-priority thread with the worker that started it",
    async () => {
      // A thread of an earlier test can end at any time, so ids are compared instead of counts.
      const before = new Set(hashingThreads());
      const worker = start({ path, kernel, nice: 1 });
      expect(await worker.result).toBe("advancing");
      const started = hashingThreads().filter((id) => !before.has(id));
      expect(started).toHaveLength(1);
      await worker[Symbol.asyncDispose]();
      expect(hashingThreads().filter((id) => started.includes(id))).toEqual([]);
    },
  );

  test("lets a worker terminate inside a kernel without affecting other workers", async () => {
    for (let round = 0; round < 5; round++) {
      const worker = start({ path, kernel });
      expect(await worker.result).toBe("advancing");
      await using other = start({ path, kernel, password: "other" });
      await worker[Symbol.asyncDispose]();
      expect(await other.result).toBe(derived("other"));
    }
  });
});

/** Empty for a thread that ended after it was listed. */
function nameOf(id: string): string {
  try {
    return readFileSync(`/proc/self/task/${id}/comm`, "utf8");
  } catch {
    return "";
  }
}
