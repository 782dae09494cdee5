/** The statistics of `bun run bench timing`, compared with values calculated by hand. */
import { expect, test } from "bun:test";
import { median } from "@latchkey/testing/benchmark";
import { medianInterval, rankTest } from "../../bench/support/rank-test.ts";

const series = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => from + index);

test("samples that do not overlap have the smallest p-value that their size allows", () => {
  // U = 0, mean 12.5, variance 22.9167: z = 12 / 4.7871 = 2.5067.
  expect(rankTest(series(1, 5), series(6, 5))).toBeCloseTo(0.01219, 4);
  expect(rankTest(series(6, 5), series(1, 5))).toBeCloseTo(0.01219, 4);
  expect(rankTest(series(0, 50), series(100, 50))).toBeLessThan(1e-15);
});

test("ties share their ranks and reduce the variance", () => {
  // Ranks 1, 3, 3, 5.5 against 3, 5.5, 7, 8: U = 2.5, mean 8, variance 12 - 30 / 42: z = 5 / 3.3594 = 1.4884.
  expect(rankTest([1, 2, 2, 3], [2, 3, 4, 5])).toBeCloseTo(0.13665, 4);
  expect(rankTest([7, 7, 7], [7, 7, 7])).toBe(1);
});

test("samples from one series are not significantly different", () => {
  const even = series(0, 200).filter((value) => value % 2 === 0);
  const odd = series(0, 200).filter((value) => value % 2 === 1);
  expect(rankTest(even, odd)).toBeGreaterThan(0.9);
});

test("the interval of the median consists of the values whose ranks a binomial distribution includes in 95 %", () => {
  // Of 100 fair coins, 40 to 60 are heads with a probability of 0.9648: the ranks 40 and 61.
  expect(medianInterval(series(1, 100).toReversed())).toEqual([40, 61]);
});

test("the median of an even number of values is the mean of the middle two", () => {
  expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5]);
});
