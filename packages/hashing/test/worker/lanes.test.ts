/** A lane and its job's memory are wiped when the job ends; jobs that arrive together finish a few at a time. */
import { expect, test } from "bun:test";
import { LANE_WORDS, loadAddon } from "../../src/kernel/addon.ts";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";
import { NativeKernel } from "../../src/kernel/native-kernel.ts";
import { Job } from "../../src/pool/job.ts";
import { JobMemory } from "../../src/protocol.ts";
import { Lanes } from "../../src/worker/lanes.ts";
import { ThroughputMeter } from "../../src/worker/throughput-meter.ts";
import { nativeKernelNames } from "../support/native-addon.ts";

/** A kernel, and whether each of its first two lanes contains only zeros. */
function openKernel(name: string) {
  const { choice } = chooseKernel(name);
  if (choice.kind !== "native") throw new Error(`${name} is not a native kernel`);
  const addon = loadAddon(choice.path);
  let state: Uint32Array = new Uint32Array(0);
  const prepareLane: typeof addon.prepareLane = (buffer, ...job) => {
    state = buffer;
    addon.prepareLane(buffer, ...job);
  };
  const kernel = new NativeKernel({ ...addon, prepareLane }, choice.variants, 0);
  const areWiped = () =>
    [0, 1].map((lane) =>
      state.subarray(lane * LANE_WORDS, (lane + 1) * LANE_WORDS).every((word) => word === 0),
    );
  return { kernel, areWiped };
}

test.each(nativeKernelNames)(
  "lanes are wiped when they finish or are dropped, and only then, with kernel %s",
  (name) => {
    const { kernel, areWiped } = openKernel(name);
    const job = { password: new Uint8Array(9), salt: new Uint8Array(9) };
    kernel.load(0, { ...job, iterations: 3 });
    kernel.load(1, { ...job, iterations: 10_000_000 });
    expect(areWiped()).toEqual([false, false]);
    while (!kernel.isFinished(0)) kernel.run();
    kernel.clear(0);
    expect(areWiped()).toEqual([true, false]);
    kernel.clear(1);
    expect(areWiped()).toEqual([true, true]);
  },
);

test.each(nativeKernelNames)("jobs that arrive together finish a few at a time, with kernel %s", (name) => {
  const { kernel } = openKernel(name);
  const lanes = new Lanes(kernel, new ThroughputMeter(1));
  for (let id = 0; id < 2 * kernel.lanes; id++) {
    const memory = JobMemory.allocate({ passwordBytes: 9, saltBytes: 9, iterations: 100_000 });
    memory.offer(1);
    lanes.push({ id, ticket: 1, shape: memory.shape });
  }
  let finished = 0;
  while (!lanes.isIdle) {
    const { length } = lanes.runSlice().jobs;
    expect(length).toBeLessThanOrEqual(4);
    finished += length;
  }
  expect(finished).toBe(2 * kernel.lanes);
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
