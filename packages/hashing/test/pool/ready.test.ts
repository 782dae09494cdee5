/** When a pool is ready, and the capacity it then reports. */
import { expect, test } from "bun:test";
import { createHasher } from "../../src/index.ts";
import { openSteppingPool } from "../support/open-pool.ts";

test("a ready pool reports the sum of the measured capacities and derives the default queue limit from it", async () => {
  await using pool = openSteppingPool({ workers: 3, queueLimit: undefined, queueSeconds: 50 });
  expect(pool.stats()).toMatchObject({ capacityPerSecond: 0, queueLimit: 64 });
  await pool.ready();
  expect(pool.stats()).toMatchObject({ capacityPerSecond: 6, queueLimit: 300 });
});

test("ready resolves if the hasher is closed before it is ready", async () => {
  const hasher = createHasher({ workers: 1 });
  const ready = hasher.ready();
  await hasher.close();
  await ready;
});
