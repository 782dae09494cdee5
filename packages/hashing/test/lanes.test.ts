/** Lanes: whatever leaves one, finished or dropped, leaves zeros behind; a slice after none was occupied is short. */
import { describe, expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { kernels } from "../src/index.ts";
import { selectKernel } from "../src/kernel/select.ts";

const native = kernels()
  .map(({ name }) => name)
  .filter((name) => name !== "portable");

interface Report {
  /** Whether each of two lanes held nothing but zeros. */
  readonly memory: Record<string, boolean[]>;
  /** Iterations of the first two slices after all lanes were free. */
  readonly slices: readonly [number, number];
}

async function inspect(kernel: string): Promise<Report> {
  const entry = new URL("./fixtures/lane-inspector.ts", import.meta.url);
  const worker = new Worker(entry, { workerData: selectKernel(kernel).choice });
  const report = await new Promise<Report>((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  await worker.terminate();
  return report;
}

describe("lanes", () => {
  test.each(native)("kernel %s: finished and abandoned lanes are wiped, the others are not", async (name) => {
    const { memory } = await inspect(name);
    expect(memory).toEqual({
      loaded: [false, false],
      afterFirstLeft: [true, false],
      afterBothLeft: [true, true],
    });
  });

  test.each(native)("kernel %s: jobs that come just after the first wait a short slice", async (name) => {
    const [first, second] = (await inspect(name)).slices;
    expect(second).toBeGreaterThan(2 * first);
  });
});
