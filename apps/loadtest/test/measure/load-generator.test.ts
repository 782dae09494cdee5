import { expect, test } from "bun:test";
import { LatencyHistogram } from "../../src/measure/histogram.ts";
import { type DriverFigures, judgeDriver } from "../../src/measure/load-generator.ts";

function latenessOf(...values: readonly number[]) {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram.summary();
}

const idle: DriverFigures = {
  cpuShare: 0.2,
  lateness: latenessOf(0.1, 0.2),
  sentShare: 1,
  faults: new Set(),
};

test("a tester with time to spare was no bottleneck", () => {
  expect(judgeDriver(idle)).toEqual({ cpuShare: 0.2, lateness: idle.lateness, bottleneck: null });
  expect(judgeDriver({ ...idle, lateness: null, faults: new Set(["ECONNRESET"]) }).bottleneck).toBeNull();
});

test.each<[string, Partial<DriverFigures>, RegExp]>([
  ["processor", { cpuShare: 0.95 }, /95 % of a core/],
  ["lateness", { lateness: latenessOf(1, 11) }, /1 % of the requests more than 11\.0 ms late/],
  ["rate", { sentShare: 0.98 }, /98\.0 % of the requests in time/],
  ["connections", { faults: new Set(["EMFILE"]) }, /no more connections \(EMFILE\)/],
])("a tester short of %s says so", (_, figures, sentence) => {
  expect(judgeDriver({ ...idle, ...figures }).bottleneck).toMatch(sentence);
});
