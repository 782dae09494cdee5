/** Token buckets in this process: of fixed size, and no number of other keys gives back an attempt. */
import { expect, test } from "bun:test";
import { createTokenBucket } from "../../src/rate-limit/token-bucket.ts";
import { createClock } from "../support/clock.ts";

test("when 100,000 buckets are empty, no empty one gets an attempt back, and 98 % of the other keys keep all of theirs", () => {
  const clock = createClock();
  const bucket = createTokenBucket({ capacity: 2, refillMs: 60_000 }, clock.now);
  const take = (key: string, times: number) => Array.from({ length: times }, () => bucket.take(key) === 0);
  expect(take("victim", 3)).toEqual([true, true, false]);
  // Later buckets are full later.
  clock.advance(1);
  for (let index = 0; index < 100_000; index++) take(`attacked ${index}`, 2);
  expect(take("victim", 1)).toEqual([false]);
  const others = Array.from({ length: 1_000 }, (_, index) => take(`other ${index}`, 2));
  expect(others.filter((taken) => taken.every(Boolean)).length).toBeGreaterThan(980);
  clock.advance(60_000);
  expect(take("victim", 2)).toEqual([true, false]);
});

test("an attempt of a key whose bucket shares a cell with an empty one refills nothing", () => {
  const bucket = createTokenBucket({ capacity: 2, refillMs: 60_000 }, createClock().now);
  const victims = Array.from({ length: 300 }, (_, index) => `victim ${index}`);
  for (const victim of [...victims, ...victims]) bucket.take(victim);
  // 2 % of all cells: about twelve of the 300 buckets share one.
  for (let index = 0; index < 20_000; index++) bucket.take(`other ${index}`);
  expect(victims.filter((victim) => bucket.take(victim) === 0)).toEqual([]);
});

test("after one attempt each of 300,000 keys, hardly any other key has lost both of its attempts", () => {
  const bucket = createTokenBucket({ capacity: 2, refillMs: 60_000 }, createClock().now);
  for (let index = 0; index < 300_000; index++) bucket.take(`other ${index}`);
  // If each attempt counted in both of its cells, about 23 of these would be empty.
  const keys = Array.from({ length: 20_000 }, (_, index) => `new ${index}`);
  expect(keys.filter((key) => bucket.take(key) > 0).length).toBeLessThan(8);
});
