/** A lane and its job's memory are wiped when the job ends. */
import { expect, test } from "bun:test";
import { LANE_WORDS } from "../../src/kernel/addon.ts";
import { NativeKernel } from "../../src/kernel/native-kernel.ts";
import { Job } from "../../src/pool/job.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { ThroughputMeter } from "../../src/worker/throughput-meter.ts";
import { ADDON, recorded } from "../fixtures/recorded-addon.ts";

test("lanes are wiped when they finish or are dropped, and only then", () => {
  let state: Uint32Array = new Uint32Array(0);
  const laneWords = (lane: number) => state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS);
  const prepareLane = (buffer: Uint32Array, lane: number): void => {
    state = buffer;
    laneWords(lane).fill(7);
  };
  const areWiped = () => [0, 1].map((lane) => laneWords(lane).every((word) => word === 0));
  const kernel = new NativeKernel({ ...ADDON, prepareLane }, recorded("Intel Xeon"), 0);
  const job = { password: new Uint8Array(9), salt: new Uint8Array(9) };
  kernel.load(0, { ...job, iterations: 3 });
  kernel.load(1, { ...job, iterations: 10_000_000 });
  expect(areWiped()).toEqual([false, false]);
  while (!kernel.isFinished(0)) kernel.run();
  kernel.clear(0);
  expect(areWiped()).toEqual([true, false]);
  kernel.clear(1);
  expect(areWiped()).toEqual([true, true]);
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
