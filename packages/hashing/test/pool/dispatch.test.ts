/** How jobs are spread over workers: evenly, and a full worker already holds those that come next. */
import { describe, expect, test } from "bun:test";
import { Pool } from "../src/pool.ts";

/** Workers that finish together whatever arrived together; a digest is full of the number of its worker. */
function open({ workers, lanes }: { workers: number; lanes: number }): Pool & AsyncDisposable {
  const setup = { kernel: { kind: "portable" as const }, nice: 0, share: 1 };
  const entry = new URL("./fixtures/signing-worker.ts", import.meta.url);
  const pool = new Pool({ workers, lanes, queueLimit: 1000, setup, entry });
  return Object.assign(pool, { [Symbol.asyncDispose]: () => pool.close() });
}

/** Jobs of each worker, most first. */
async function shares(pool: Pool, jobs: number): Promise<number[]> {
  const job = { password: "", salt: "", iterations: 1 };
  const digests = await Promise.all(Array.from({ length: jobs }, () => pool.submit(job)));
  const counts = new Map<number | undefined, number>();
  for (const [worker] of digests) counts.set(worker, (counts.get(worker) ?? 0) + 1);
  return [...counts.values()].toSorted((a, b) => b - a);
}

describe("spread", () => {
  test.each([
    [2, [1, 1]],
    [8, [4, 4]],
    [9, [5, 4]],
    [31, [16, 15]],
    [32, [16, 16]],
  ])("%p jobs over two workers of sixteen lanes: %p", async (jobs, expected) => {
    await using pool = open({ workers: 2, lanes: 16 });
    expect(await shares(pool, jobs)).toEqual(expected);
  });

  test("three workers differ by one at most", async () => {
    await using pool = open({ workers: 3, lanes: 4 });
    expect(await shares(pool, 11)).toEqual([4, 4, 3]);
  });

  test("a full worker holds as many again as it has lanes; they count as waiting", async () => {
    await using pool = open({ workers: 1, lanes: 4 });
    const done = shares(pool, 20);
    expect(pool.stats()).toMatchObject({ lanesBusy: 4, queueLength: 16 });
    expect(await done).toEqual([20]);
    expect(pool.stats()).toMatchObject({ lanesBusy: 0, queueLength: 0 });
  });
});
