/** Arrival times: rate, distribution and repeatability. */
import { expect, test } from "bun:test";
import { type ArrivalOptions, arrivalTimes } from "../../src/load/arrivals.ts";

const options: ArrivalOptions = {
  ratePerSecond: 50,
  arrivals: "poisson",
  warmUpSeconds: 1,
  durationSeconds: 399,
  seed: 1,
};

test("constant arrivals have equal gaps and fill the duration", () => {
  const times = arrivalTimes({ ...options, arrivals: "constant", durationSeconds: 1 });
  expect(times).toEqual(Array.from({ length: 100 }, (_, index) => index * 20));
});

test("equal seeds give equal arrivals, and different seeds different arrivals", () => {
  expect(arrivalTimes(options)).toEqual(arrivalTimes(options));
  expect(arrivalTimes({ ...options, seed: 2 })).not.toEqual(arrivalTimes(options));
});

test("the warm-up and the duration each have rate × time Poisson arrivals, with every seed and rate", () => {
  for (const [seed, ratePerSecond, during] of [
    [1, 50, 19_950],
    [2, 100, 39_900],
    [3, 0.1, 40],
  ] as const) {
    const times = arrivalTimes({ ...options, seed, ratePerSecond });
    expect(times.filter((time) => time < 1000)).toHaveLength(Math.round(ratePerSecond));
    expect(times.filter((time) => time >= 1000)).toHaveLength(during);
  }
});

// Seeds are fixed.
test.each([1, 2, 3, 1_000_000_000])(
  "Poisson arrivals of seed %d ascend, fill the duration, and their gaps have an exponential distribution",
  (seed) => {
    const times = arrivalTimes({ ...options, seed });
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times[0]).toBeGreaterThan(0);
    expect(times.at(-1)).toBeWithin(399_000, 400_000);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? Number.NaN));
    // Kolmogorov–Smirnov test: the maximum distance of the distributions is below its 0.1 % bound, 1.95/√n.
    const distances = gaps
      .sort((a, b) => a - b)
      .map((gap, index) => Math.abs(1 - Math.exp(-gap / 20) - (index + 0.5) / gaps.length));
    expect(Math.max(...distances)).toBeLessThan(1.95 / Math.sqrt(gaps.length));
  },
);
