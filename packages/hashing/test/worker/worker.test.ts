/** A worker under a CPU quota. */
import { describe, expect, test } from "bun:test";
import { createQuotaBudget } from "../../src/cpu-quota.ts";
import { kernels } from "../../src/index.ts";
import { LANE_WORDS } from "../../src/kernel/addon.ts";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";
import type { KernelChoice } from "../../src/kernel/kernel.ts";
import { recorded } from "../fixtures/recorded-addon.ts";
import { hex, referenceDigest } from "../support/derivation.ts";
import { nativeKernelNames } from "../support/native-kernels.ts";
import { fixtureUrl, openPool } from "../support/open-pool.ts";

describe("a worker with a CPU quota", () => {
  test("reports the capacity of its share before the first job", async () => {
    const path = fixtureUrl("recorded-addon.ts").pathname;
    const kernel: KernelChoice = { kind: "native", path, variants: recorded("Intel Xeon") };
    const capacityOf = async (cores: number) => {
      await using pool = openPool({ setup: { kernel, nice: 0, quota: createQuotaBudget(cores, 1) } });
      await pool.ready();
      return pool.stats().capacityPerSecond;
    };
    // Sixteen derivations in 241 ms; a tenth of the quota is for the event loop.
    expect(await capacityOf(Number.POSITIVE_INFINITY)).toBeCloseTo(16 / 0.241);
    expect(await capacityOf(0.1)).toBeCloseTo((0.09 * 16) / 0.241);
  });

  test.each(kernels().map(({ name }) => name))(
    "finishes its jobs between pauses with kernel %s",
    async (name) => {
      const { choice, lanes } = chooseKernel(name);
      await using pool = openPool({
        lanes,
        setup: { kernel: choice, nice: 0, quota: createQuotaBudget(0.5, 1) },
      });
      const job = { password: "secret", salt: "salt", iterations: 30_000 };
      const digests = await Promise.all(Array.from({ length: lanes + 2 }, () => pool.submit(job)));
      expect(digests.map(hex)).toEqual(digests.map(() => referenceDigest(job)));
    },
  );
});

test.each(nativeKernelNames)(
  "a worker wipes its lanes when it ends with an exception, with kernel %s",
  async (name) => {
    const { choice, lanes } = chooseKernel(name);
    const words = [0, 1].map(() => new Uint32Array(new SharedArrayBuffer(4 * lanes * LANE_WORDS)).fill(1));
    const copies = words.map(({ buffer }) => buffer);
    const setup = { kernel: choice, nice: 0, quota: null, ...{ copies } };
    await using pool = openPool({ lanes, setup, workerUrl: fixtureUrl("wipe-inspector.ts") });
    const job = { password: "secret", salt: "salt", iterations: 1_000_000 };
    expect(pool.submit(job)).rejects.toMatchObject({ code: "HASH_WORKER_CRASHED" });
    await Promise.allSettled([pool.submit(job)]);
    const isWiped = words.map((copy) => copy.every((word) => word === 0));
    expect(isWiped).toEqual([false, true]);
  },
);
