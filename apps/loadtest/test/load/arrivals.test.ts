import { expect, test } from "bun:test";
import { type ArrivalOptions, arrivalTimes } from "../../src/load/arrivals.ts";

const asked: ArrivalOptions = { ratePerSecond: 50, arrivals: "poisson", durationSeconds: 400, seed: 1 };
const gapsOf = (times: readonly number[]): number[] =>
  times.slice(1).map((time, index) => time - (times[index] ?? Number.NaN));
const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

test("constant arrivals are equally far apart and fill the duration", () => {
  const times = arrivalTimes({ ...asked, arrivals: "constant", durationSeconds: 2 });
  expect(times).toEqual(Array.from({ length: 100 }, (_, index) => index * 20));
});

test("the same seed gives the same arrivals, another one others", () => {
  expect(arrivalTimes(asked)).toEqual(arrivalTimes(asked));
  expect(arrivalTimes({ ...asked, seed: 2 })).not.toEqual(arrivalTimes(asked));
});

test("a longer duration begins with the arrivals of a shorter one", () => {
  const short = arrivalTimes({ ...asked, durationSeconds: 3 });
  expect(arrivalTimes(asked).slice(0, short.length)).toEqual(short);
});

// 20,000 are expected with a deviation of 141: the bounds are more than three deviations away, and the seeds are fixed.
test.each([1, 2, 3, 1_000_000_000])(
  "Poisson arrivals of seed %d come at the rate, in order, to the end",
  (seed) => {
    const times = arrivalTimes({ ...asked, seed });
    expect(Math.abs(times.length - 20_000)).toBeLessThan(450);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
    expect(times.at(-1)).toBeLessThan(400_000);
    expect(times.at(-1)).toBeGreaterThan(399_000);
  },
);

test.each([1, 2, 3])("Poisson gaps of seed %d are distributed exponentially", (seed) => {
  const gaps = gapsOf(arrivalTimes({ ...asked, seed })).sort((a, b) => a - b);
  // Kolmogorov and Smirnov: the greatest distance between the two distributions stays below its 0.1 % bound, 1.95/√n.
  const distances = gaps.map((gap, index) => Math.abs(1 - Math.exp(-gap / 20) - (index + 0.5) / gaps.length));
  expect(Math.max(...distances)).toBeLessThan(1.95 / Math.sqrt(gaps.length));
});

test("one Poisson gap says nothing of the next", () => {
  const gaps = gapsOf(arrivalTimes(asked));
  const middle = mean(gaps);
  const products = gapsOf(gaps).map(
    (_, index) => ((gaps[index] ?? 0) - middle) * ((gaps[index + 1] ?? 0) - middle),
  );
  const variance = mean(gaps.map((gap) => (gap - middle) ** 2));
  expect(Math.abs(mean(products) / variance)).toBeLessThan(0.03);
});
