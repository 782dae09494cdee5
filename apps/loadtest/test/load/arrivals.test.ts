/** Arrival times: rate, distribution and repeatability. */
import { expect, test } from "bun:test";
import { type ArrivalOptions, arrivalTimes } from "../../src/load/arrivals.ts";

const options: ArrivalOptions = { ratePerSecond: 50, arrivals: "poisson", durationSeconds: 400, seed: 1 };

test("constant arrivals have equal gaps and fill the duration", () => {
  const times = arrivalTimes({ ...options, arrivals: "constant", durationSeconds: 2 });
  expect(times).toEqual(Array.from({ length: 100 }, (_, index) => index * 20));
});

test("equal seeds give equal arrivals, and different seeds different arrivals", () => {
  expect(arrivalTimes(options)).toEqual(arrivalTimes(options));
  expect(arrivalTimes({ ...options, seed: 2 })).not.toEqual(arrivalTimes(options));
});

// 20,000 are expected with a standard deviation of 141: the bounds are more than three deviations wide; seeds are fixed.
test.each([1, 2, 3, 1_000_000_000])(
  "Poisson arrivals of seed %d have the rate, fill the duration, and their gaps an exponential distribution",
  (seed) => {
    const times = arrivalTimes({ ...options, seed });
    expect(Math.abs(times.length - 20_000)).toBeLessThan(450);
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
