/** A lane and its job's memory are wiped when the job ends; jobs that arrive together finish a few at a time. */
import { describe, expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";
import { Job } from "../../src/pool/job.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { ThroughputMeter } from "../../src/worker/throughput-meter.ts";
import { nativeKernelNames } from "../support/native-addon.ts";
import { fixtureUrl } from "../support/open-pool.ts";

interface Report {
  /** Whether each of two lanes contained only zeros. */
  readonly memory: Record<string, boolean[]>;
  readonly lanes: number;
  /** The number of jobs that finished in each slice, of twice as many equal jobs as lanes that arrived together. */
  readonly finishedPerSlice: readonly number[];
}

async function inspect(kernel: string): Promise<Report> {
  const worker = new Worker(fixtureUrl("lane-inspector.ts"), { workerData: chooseKernel(kernel).choice });
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
    "finish jobs that arrive together a few at a time, with kernel %s",
    async (name) => {
      const { finishedPerSlice, lanes } = await inspect(name);
      expect(finishedPerSlice.reduce((sum, count) => sum + count)).toBe(2 * lanes);
      expect(Math.max(...finishedPerSlice)).toBeLessThanOrEqual(4);
    },
  );
});

/** Aborts before, in the middle of and after the 32 bytes. */
test.each([0, 16, 32])(
  "a job that is aborted while its digest is being written leaves no byte of the digest in the shared memory: after %p bytes",
  async (written) => {
    const controller = new AbortController();
    const input = { password: "secret", salt: "salt", iterations: 1, signal: controller.signal };
    const job = new Job({ id: 1, submittedMs: 0 }, input, () => {});
    job.promise.catch(() => {});
    const lanes = new Lanes(
      {
        lanes: 1,
        load() {},
        run: () => ({ iterations: 1, seconds: 0.004 }),
        isFinished: () => true,
        read(_lane, digest) {
          digest.fill(7, 0, written);
          controller.abort();
          digest.fill(7, written);
        },
        clear() {},
        throughput: () => ({ kernel: "test", capacityPerSecond: 1 }),
      },
      new ThroughputMeter(1),
    );
    const { memory } = job;
    memory.offer(1);
    lanes.push({ id: 1, ticket: 1, shape: memory.shape });
    expect(lanes.runSlice()).toMatchObject({ jobs: [{ id: 1, finished: false }], seconds: 0.004 });
    expect(new Uint8Array(memory.shape.buffer).every((byte) => byte === 0)).toBe(true);
  },
);
