/** Leaving the event loop its part of a CPU quota. */
import { describe, expect, test } from "bun:test";
import { pbkdf2Sync } from "node:crypto";
import { kernels } from "../src/index.ts";
import { selectKernel } from "../src/kernel/select.ts";
import { Pacing, workerShare } from "../src/pacing.ts";
import { Pool } from "../src/pool.ts";

describe("workerShare", () => {
  test.each([
    [Number.POSITIVE_INFINITY, 4, 1],
    [1, 1, 0.9],
    [0.5, 1, 0.45],
    [1.5, 1, 1],
    [2, 2, 0.9],
    [2, 4, 0.45],
  ])("a quota of %p cores over %p workers: %p", (quota, workers, share) => {
    expect(workerShare({ quota, workers })).toBeCloseTo(share);
  });
});

describe("Pacing", () => {
  test("without a quota it never pauses", () => {
    const pacing = new Pacing(1);
    expect(Array.from({ length: 100 }, () => pacing.pauseMs(4)).every((pause) => pause === 0)).toBe(true);
  });

  test.each([0.1, 0.45, 0.9, 0.99])("slices and pauses together keep a share of %p", (share) => {
    const pacing = new Pacing(share);
    let busyMs = 0;
    let pausedMs = 0;
    for (let slice = 0; slice < 10_000; slice++) {
      busyMs += 4.2;
      pausedMs += pacing.pauseMs(4.2);
    }
    expect(busyMs / (busyMs + pausedMs)).toBeCloseTo(share, 2);
  });

  test("pauses are whole milliseconds, long enough for a timer", () => {
    const pacing = new Pacing(0.9);
    const pauses = Array.from({ length: 100 }, () => pacing.pauseMs(4)).filter((pause) => pause > 0);
    expect(pauses.length).toBeGreaterThan(10);
    for (const pause of pauses) {
      expect(pause).toBeInteger();
      expect(pause).toBeGreaterThanOrEqual(2);
    }
  });
});

describe("a paced worker", () => {
  test.each(kernels().map(({ name }) => name))(
    "kernel %s: finishes what it pauses in between",
    async (name) => {
      const { choice, lanes } = selectKernel(name);
      const entry = new URL("../src/worker.ts", import.meta.url);
      const pool = new Pool({
        workers: 1,
        lanes,
        queueLimit: 100,
        setup: { kernel: choice, nice: 0, share: 0.5 },
        entry,
      });
      const job = { password: "secret", salt: "salt", iterations: 30_000 };
      const expected = pbkdf2Sync("secret", "salt", 30_000, 32, "sha256").toString("hex");
      const digests = await Promise.all(Array.from({ length: lanes + 2 }, () => pool.submit(job)));
      expect(digests.map((digest) => Buffer.from(digest).toString("hex"))).toEqual(
        digests.map(() => expected),
      );
      await pool.close();
    },
  );
});
