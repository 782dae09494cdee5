/** Lanes: whatever leaves one, finished or dropped, leaves zeros behind; those that come at once leave a few at a time. */
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
  /** Iterations of a brief slice and of a full one. */
  readonly slices: readonly [number, number];
  readonly lanes: number;
  /** How many left together, of twice as many equal jobs as lanes that came at once. */
  readonly departures: readonly number[];
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

  test.each(native)("kernel %s: a brief slice is a part of a full one", async (name) => {
    const [brief, full] = (await inspect(name)).slices;
    expect(full).toBeGreaterThan(2 * brief);
  });

  test.each(native)("kernel %s: jobs that come at once leave a few at a time", async (name) => {
    const { departures, lanes } = await inspect(name);
    expect(departures.reduce((sum, count) => sum + count)).toBe(2 * lanes);
    expect(Math.max(...departures)).toBeLessThanOrEqual(4);
  });
});
