import { expect, test } from "bun:test";
import { LatencyHistogram } from "../../src/measure/histogram.ts";
import { assessLoadGenerator, type LoadGeneratorFigures } from "../../src/measure/load-generator.ts";

function latenessOf(...values: readonly number[]) {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram.summary();
}

const idle: LoadGeneratorFigures = {
  cpuShare: 0.2,
  lateness: latenessOf(0.1, 0.2),
  sentShare: 1,
  errorCodes: new Set(),
};

test("an idle load generator is not the bottleneck", () => {
  expect(assessLoadGenerator(idle)).toEqual({ cpuShare: 0.2, lateness: idle.lateness, bottleneck: null });
  expect(
    assessLoadGenerator({ ...idle, lateness: null, errorCodes: new Set(["ECONNRESET"]) }).bottleneck,
  ).toBeNull();
});

test.each<[string, Partial<LoadGeneratorFigures>, RegExp]>([
  ["CPU time", { cpuShare: 0.95 }, /95 % of a core/],
  ["lateness", { lateness: latenessOf(1, 11) }, /1 % of the requests more than 11\.0 ms late/],
  ["rate", { sentShare: 0.98 }, /98\.0 % of the requests in time/],
  ["connections", { errorCodes: new Set(["EMFILE"]) }, /could not open more connections \(EMFILE\)/],
])("a load generator limited by %s is the bottleneck", (_, figures, sentence) => {
  expect(assessLoadGenerator({ ...idle, ...figures }).bottleneck).toMatch(sentence);
});
