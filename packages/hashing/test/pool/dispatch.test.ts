/** Jobs are distributed evenly, and a full worker prefetches the next ones. */
import { describe, expect, test } from "bun:test";
import type { Pool } from "../../src/pool/pool.ts";
import { fixtureUrl, openPool } from "../support/open-pool.ts";

const workerUrl = fixtureUrl("worker-id-worker.ts");

/** The number of jobs of each worker, in descending order. */
async function jobsPerWorker(pool: Pool, jobs: number): Promise<number[]> {
  const job = { password: "", salt: "", iterations: 1 };
  const digests = await Promise.all(Array.from({ length: jobs }, () => pool.submit(job)));
  const counts = new Map<number | undefined, number>();
  for (const [worker] of digests) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  return [...counts.values()].toSorted((a, b) => b - a);
}

describe("dispatch", () => {
  test.each([
    [2, [1, 1]],
    [8, [4, 4]],
    [9, [5, 4]],
    [31, [16, 15]],
    [32, [16, 16]],
  ])("distributes %p jobs over two workers of sixteen lanes as %p", async (jobs, expected) => {
    await using pool = openPool({ workerUrl, workers: 2, lanes: 16 });
    expect(await jobsPerWorker(pool, jobs)).toEqual(expected);
  });

  test("distributes jobs over three workers with a difference of at most one", async () => {
    await using pool = openPool({ workerUrl, workers: 3, lanes: 4 });
    expect(await jobsPerWorker(pool, 11)).toEqual([4, 4, 3]);
  });

  test("counts the jobs that a full worker prefetches as waiting", async () => {
    await using pool = openPool({ workerUrl, workers: 1, lanes: 4 });
    const done = jobsPerWorker(pool, 20);
    expect(pool.stats()).toMatchObject({ lanesBusy: 4, queueLength: 16 });
    expect(await done).toEqual([20]);
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0 });
  });
});
