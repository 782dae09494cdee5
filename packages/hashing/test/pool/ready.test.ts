/** When a hasher knows what it can do. */
import { expect, test } from "bun:test";
import { createHasher } from "../src/index.ts";
import { Pool } from "../src/pool.ts";

test("once ready, every worker's measured capacity is in the sum, and the queue's default limit follows it", async () => {
  const pool = new Pool({
    workers: 3,
    lanes: 1,
    queueLimit: undefined,
    setup: { kernel: { kind: "portable" }, nice: 0, share: 1 },
    entry: new URL("./fixtures/steady-worker.ts", import.meta.url),
  });
  expect(pool.stats()).toMatchObject({ capacityPerSecond: 0, queueLimit: 64 });
  await pool.ready();
  expect(pool.stats()).toMatchObject({ capacityPerSecond: 300, queueLimit: 1500 });
  await pool.close();
});

test("whoever waits for a hasher that is closed meanwhile goes on", async () => {
  const hasher = createHasher({ workers: 1 });
  const ready = hasher.ready();
  await hasher.close();
  await ready;
});
