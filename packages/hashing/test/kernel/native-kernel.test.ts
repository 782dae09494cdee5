/**
 * The native kernel advances the oldest lanes, whatever their cost, in small groups if these are as efficient. Only its threads
 * run at a lower priority.
 */
import { describe, expect, test } from "bun:test";
import { once } from "node:events";
import { getPriority } from "node:os";
import { availableCores } from "../../src/cpu-quota.ts";
import { createHasher } from "../../src/index.ts";
import { LANE_WORDS } from "../../src/kernel/addon.ts";
import { NativeKernel } from "../../src/kernel/native-kernel.ts";
import { ADDON, recorded } from "../fixtures/recorded-addon.ts";
import { testNativeKernels } from "../support/native-kernels.ts";
import { fixtureUrl } from "../support/open-pool.ts";

/** Two lanes together are as efficient as four. */
const VARIANTS = recorded("Arm Cortex-A76");
const N = 100_002;

function createKernel() {
  const kernel = new NativeKernel(ADDON, VARIANTS, 0);
  const bytes = new Uint8Array(0);
  const load = (lane: number, iterations: number) =>
    kernel.load(lane, { password: bytes, salt: bytes, iterations });
  return { kernel, load };
}

test.each([
  ["age", [3, 1, 0, 2], [N, N, N, N], [3, 1, 0, 2]],
  // Lanes 0 and 1 advance first, then 0 and 2, then 2 and 3.
  ["age, also if the oldest have the most iterations", [0, 1, 2, 3], [5 * N, 4 * N, 2 * N, N], [1, 0, 2, 3]],
])("lanes finish in the order of their %s", (_name, order, iterations, expected) => {
  const { kernel, load } = createKernel();
  for (const [index, lane] of order.entries()) load(lane, iterations[index] ?? 0);
  const finished: number[] = [];
  while (finished.length < order.length) {
    kernel.run();
    for (const lane of order.filter((lane) => kernel.isFinished(lane))) {
      finished.push(lane);
      kernel.clear(lane);
    }
  }
  expect(finished).toEqual(expected);
});

test("a cleared lane contains nothing of its job", () => {
  let state: Uint32Array = new Uint32Array();
  const addon = {
    ...ADDON,
    prepareLane: (...args: Parameters<typeof ADDON.prepareLane>) => {
      [state] = args;
      state.fill(7);
    },
  };
  const kernel = new NativeKernel(addon, VARIANTS, 0);
  const bytes = new Uint8Array(0);
  kernel.load(1, { password: bytes, salt: bytes, iterations: 1 });
  kernel.clear(1);
  expect(state.subarray(LANE_WORDS, 2 * LANE_WORDS).some((word) => word !== 0)).toBe(false);
  expect(state[0]).toBe(7);
});

test("a kernel gets more lanes when a later measurement justifies them, and keeps them", () => {
  let slowdown = 1.5;
  const variants = recorded("AMD Zen 5", "avx512");
  const addon = {
    ...ADDON,
    advance: (...args: Parameters<typeof ADDON.advance>) => {
      const isWide = variants.find(({ id }) => id === args[0])?.width === 32;
      return ADDON.advance(...args) * (isWide ? slowdown : 1);
    },
  };
  const kernel = new NativeKernel(addon, variants, 0);
  expect(kernel.lanes).toBe(16);
  const bytes = new Uint8Array(0);
  kernel.load(0, { password: bytes, salt: bytes, iterations: 2 ** 31 });
  for (const [factor, lanes] of [
    [1, 32],
    [1.5, 32],
  ] as const) {
    slowdown = factor;
    for (let slice = 0; slice < 1_000; slice++) kernel.run();
    expect(kernel.throughput()).toMatchObject({ lanes });
  }
});

/** The low-priority threads that were found under load. */
async function lowPriorityThreads(kernel: string, nice: number): Promise<unknown> {
  const command = [process.execPath, fixtureUrl("busy-hasher.ts").pathname, kernel, String(nice)];
  const child = Bun.spawn(command, { stdout: "pipe" });
  const threads: unknown = await child.stdout.json();
  expect(await child.exited).toBe(0);
  return threads;
}

describe.if(process.platform === "linux")("thread priority", () => {
  const nice = Math.min(19, getPriority(0) + 7);

  testNativeKernels("is lower for hashing threads and for no other thread with kernel %s", async (kernel) => {
    expect(await lowPriorityThreads(kernel, nice)).toEqual([{ name: "derive", nice }]);
  });

  test("is unchanged with the portable kernel", async () => {
    expect(await lowPriorityThreads("portable", nice)).toEqual([]);
  });

  test("is unchanged with a nice value of zero", async () => {
    expect(await lowPriorityThreads("auto", 0)).toEqual([]);
  });

  test("is unchanged, with a warning, if the system cannot start a thread", async () => {
    const warned = once(process, "warning");
    new NativeKernel(ADDON, VARIANTS, 5);
    expect(String(await warned)).toContain("nice");
  });

  test("does not starve a login while other processes use every core", async () => {
    const busyProcesses = Array.from({ length: availableCores() }, () =>
      Bun.spawn([process.execPath, "-e", "for (;;);"]),
    );
    try {
      await using hasher = createHasher();
      expect(await hasher.verify("wrong", await hasher.hash("secret"))).toBe(false);
    } finally {
      for (const child of busyProcesses) child.kill("SIGKILL");
    }
  });
});
