/** A lane is wiped when its job ends, finished or dropped; jobs that arrive together finish a few at a time. */
import { describe, expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { selectKernel } from "../../src/kernel/select.ts";
import { nativeKernelNames } from "../support/native-addon.ts";
import { fixtureUrl } from "../support/open-pool.ts";

interface Report {
  /** Whether each of two lanes contained only zeros. */
  readonly memory: Record<string, boolean[]>;
  /** The iterations of a short slice and of a full one. */
  readonly slices: readonly [number, number];
  readonly lanes: number;
  /** The number of jobs that finished in each slice, of twice as many equal jobs as lanes that arrived together. */
  readonly finishedPerSlice: readonly number[];
}

async function inspect(kernel: string): Promise<Report> {
  const worker = new Worker(fixtureUrl("lane-inspector.ts"), { workerData: selectKernel(kernel).choice });
  const report = await new Promise<Report>((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  await worker.terminate();
  return report;
}

describe("lanes", () => {
  test.each(nativeKernelNames)(
    "are wiped when they finish or are dropped, and only then, with kernel %s",
    async (name) => {
      const { memory } = await inspect(name);
      expect(memory).toEqual({
        loaded: [false, false],
        afterFirstCleared: [true, false],
        afterBothCleared: [true, true],
      });
    },
  );

  test.each(nativeKernelNames)(
    "advance less in a short slice than in a full one, with kernel %s",
    async (name) => {
      const [short, full] = (await inspect(name)).slices;
      expect(full).toBeGreaterThan(2 * short);
    },
  );

  test.each(nativeKernelNames)(
    "finish jobs that arrive together a few at a time, with kernel %s",
    async (name) => {
      const { finishedPerSlice, lanes } = await inspect(name);
      expect(finishedPerSlice.reduce((sum, count) => sum + count)).toBe(2 * lanes);
      expect(Math.max(...finishedPerSlice)).toBeLessThanOrEqual(4);
    },
  );
});
