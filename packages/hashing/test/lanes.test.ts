/** Lane memory: whatever leaves a lane, finished or dropped, leaves zeros behind. */
import { describe, expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { kernels } from "../src/index.ts";
import { selectKernel } from "../src/kernel/select.ts";

const native = kernels()
  .map(({ name }) => name)
  .filter((name) => name !== "portable");

describe("lane memory", () => {
  test.each(native)("kernel %s: finished and abandoned lanes are wiped, the others are not", async (name) => {
    const entry = new URL("./fixtures/lane-inspector.ts", import.meta.url);
    const worker = new Worker(entry, { workerData: selectKernel(name).choice });
    const report = await new Promise((resolve, reject) =>
      worker.once("message", resolve).once("error", reject),
    );
    await worker.terminate();
    expect(report).toEqual({
      loaded: [false, false],
      afterFirstLeft: [true, false],
      afterBothLeft: [true, true],
    });
  });
});
