/** When the load generator itself limits a measurement. */
import { expect, test } from "bun:test";
import { LatencyHistogram } from "../../src/measure/histogram.ts";
import { bottleneckOf, type LoadGeneratorFigures } from "../../src/measure/run.ts";

function latenessOf(...values: readonly number[]) {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram.summary();
}

const idle: LoadGeneratorFigures = {
  cpuShare: 0.2,
  lateness: latenessOf(0.1, 0.2),
  sentShare: 1,
  connectionErrors: {},
};

test("an idle load generator is not the bottleneck", () => {
  expect(bottleneckOf(idle)).toBeNull();
  expect(bottleneckOf({ ...idle, lateness: null, connectionErrors: { ECONNRESET: 1 } })).toBeNull();
});

test.each<[string, Partial<LoadGeneratorFigures>, RegExp]>([
  ["CPU time", { cpuShare: 0.95 }, /95 % of a core/],
  ["lateness", { lateness: latenessOf(1, 11) }, /1 % of the requests more than 11\.0 ms late/],
  ["rate", { sentShare: 0.98 }, /98\.0 % of the requests in time/],
  ["connections", { connectionErrors: { EMFILE: 1 } }, /could not open more connections \(EMFILE\)/],
])("a load generator limited by %s is the bottleneck", (_, figures, sentence) => {
  expect(bottleneckOf({ ...idle, ...figures })).toMatch(sentence);
});
