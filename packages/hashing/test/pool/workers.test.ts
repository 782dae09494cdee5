/** Jobs are distributed evenly over the usual lanes, then fill one worker after the other, and a full worker prefetches the next ones. */
import { describe, expect, test } from "bun:test";
import type { Pool } from "../../src/pool/pool.ts";
import { STORED_ITERATIONS } from "../../src/stored-hash.ts";
import { openSteppingPool } from "../support/open-pool.ts";

/** The number of jobs of each worker, in descending order. */
async function jobsPerWorker(pool: Pool, jobs: number): Promise<number[]> {
  const job = { password: "", salt: "", iterations: STORED_ITERATIONS };
  const digests = await Promise.all(Array.from({ length: jobs }, () => pool.submit(job)));
  const counts = new Map<number | undefined, number>();
  for (const [worker] of digests) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  return [...counts.values()].toSorted((a, b) => b - a);
}

describe("dispatch", () => {
  test.each([
    [2, [1, 1]],
    [9, [5, 4]],
    [32, [16, 16]],
  ])("distributes %p jobs over two workers of sixteen lanes as %p", async (jobs, expected) => {
    await using pool = openSteppingPool({ workers: 2, lanes: 16 });
    expect(await jobsPerWorker(pool, jobs)).toEqual(expected);
  });

  test.each([
    [17, [9, 8]],
    [33, [17, 16]],
    [48, [32, 16]],
    [64, [32, 32]],
  ])(
    "of %p jobs and two workers of 32 lanes, one fills its lanes before the other gets more than sixteen",
    async (jobs, expected) => {
      await using pool = openSteppingPool({ workers: 2, lanes: 32 });
      await pool.ready();
      expect(await jobsPerWorker(pool, jobs)).toEqual(expected);
    },
  );

  test.each([
    [16, [8, 8]],
    [24, [16, 8]],
    [40, [32, 8]],
  ])(
    "distributes %p jobs over a worker that measured 8 lanes and one that measured 32 as %p",
    async (jobs, expected) => {
      await using pool = openSteppingPool({ workers: 2, lanes: 32, measured: [8, 32] });
      await pool.ready();
      expect(await jobsPerWorker(pool, jobs)).toEqual(expected);
    },
  );

  test("lets at most four jobs be overtaken behind a slow worker", async () => {
    await using pool = openSteppingPool({ workers: 2, lanes: 16 });
    await pool.ready();
    const controller = new AbortController();
    const finished: number[] = [];
    const jobs = Array.from({ length: 240 }, (_, index) => {
      const password = index === 0 ? "block" : "";
      return pool
        .submit({ password, salt: "", iterations: 1, signal: controller.signal })
        .then(() => finished.push(index))
        .catch(() => {});
    });
    // The blocked worker finishes nothing, so its sixteen jobs in lanes remain.
    while (finished.length < jobs.length - 16)
      await Promise.race(jobs.filter((_, index) => !finished.includes(index)));
    const overtaken = finished.filter(
      (job, position) => finished.slice(0, position).filter((earlier) => earlier > job).length > 60,
    );
    controller.abort();
    expect(overtaken.length).toBeLessThanOrEqual(4);
  });
});
