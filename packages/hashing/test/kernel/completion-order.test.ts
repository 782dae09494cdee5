/** The native kernel advances the oldest lanes, whatever their cost, in small groups if these are as efficient. */
import { expect, test } from "bun:test";
import { Worker } from "node:worker_threads";
import { fixtureUrl } from "../support/open-pool.ts";

test("lanes advance in the order of their age, and a long job finishes in a stream of shorter ones", async () => {
  const worker = new Worker(fixtureUrl("completion-order.ts"));
  const report = await new Promise((resolve, reject) =>
    worker.once("message", resolve).once("error", reject),
  );
  await worker.terminate();
  expect(report).toEqual({
    byAge: [3, 1, 0, 2],
    // Two groups of two take as long as one of four.
    seconds: expect.closeTo(2 * 100_000 * 1.2e-6, 3),
    // Lanes 0 and 1 advance first, then 0 and 2, then 2 and 3.
    mixed: [1, 0, 2, 3],
    overtaking: 1,
  });
});
