/** The memory of a job that is aborted while its worker writes the digest, and the lane that held the job. */
import { expect, test } from "bun:test";
import { Job } from "../../src/pool/job.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { ThroughputMeter } from "../../src/worker/throughput-meter.ts";

/** Aborts before, in the middle of and after the 32 bytes. */
test.each([0, 16, 32])(
  "a job that is aborted while its digest is being written leaves no byte of the digest in the shared memory: after %p bytes",
  async (written) => {
    const controller = new AbortController();
    const input = { password: "secret", salt: "salt", iterations: 1, signal: controller.signal };
    const job = new Job({ ...input, id: 1, submittedMs: 0 }, () => {});
    job.promise.catch(() => {});
    const cleared: number[] = [];
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
        clear: (lane) => cleared.push(lane),
        throughput: () => ({ kernel: "test", lanes: 1, capacityPerSecond: 1 }),
      },
      new ThroughputMeter(1),
    );
    const { memory } = job;
    memory.offer(1);
    lanes.push({ id: 1, ticket: 1, shape: memory.shape });
    expect(lanes.runSlice()).toMatchObject({ jobs: [{ id: 1, finished: false }], seconds: 0.004 });
    expect(new Uint8Array(memory.shape.buffer).every((byte) => byte === 0)).toBe(true);
    expect(cleared).toEqual([0]);
  },
);
