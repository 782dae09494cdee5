/** The native kernel finishes the lanes with the least remaining work first, of equal ones the oldest, at no cost. */
import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { fixtureUrl } from "../support/open-pool.ts";

test("lanes finish in the order of their remaining work, then of their age, in small groups if these are as efficient", async () => {
  const worker = new Worker(fixtureUrl("completion-order.ts"));
  const report = await new Promise((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  await worker.terminate();
  expect(report).toEqual({
    byAge: [3, 1, 0, 2],
    // Two groups of two take as long as one of four.
    seconds: expect.closeTo(2 * 100_000 * 1.2e-6, 3),
    byRemaining: [3, 2, 1, 0],
  });
});
