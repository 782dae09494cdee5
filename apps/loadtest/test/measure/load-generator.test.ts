/** When the load generator itself limits a measurement. */
import { expect, test } from "bun:test";
import { bottleneckOf, type LoadGeneratorFigures } from "../../src/measure/run.ts";
import { latencyOf } from "../support/example-run.ts";

const idle: LoadGeneratorFigures = {
  cpuShare: 0.07,
  waitShare: 0.02,
  lateness: latencyOf([1, 11]),
  latency: latencyOf([300, 400]),
  connectionErrors: {},
};

test.each<[string, Partial<LoadGeneratorFigures>]>([
  ["is late by a small part of the latency", { cpuShare: 0.6, lateness: latencyOf([39]) }],
  ["is late by less than a millisecond", { lateness: latencyOf([0.9]), latency: latencyOf([1]) }],
  ["received no response", { latency: null, connectionErrors: { ECONNRESET: 1 } }],
  ["waits for a core without being late", { cpuShare: 0.5, waitShare: 0.5 }],
])("a load generator that %s is not the bottleneck", (_, figures) => {
  expect(bottleneckOf({ ...idle, ...figures })).toBeNull();
});

test.each<[string, Partial<LoadGeneratorFigures>, string]>([
  ["its CPU time", { cpuShare: 0.95 }, "The load generator was the bottleneck: it used 95 % of a core."],
  [
    "the cores in a closed loop",
    { cpuShare: 0.55, waitShare: 0.4, lateness: null },
    "The load generator was the bottleneck: it used 55 % of a core, and waited for a core 40 % of the time.",
  ],
  [
    "its lateness",
    { cpuShare: 0.6, lateness: latencyOf([41]) },
    "The load generator was the bottleneck: it sent 1 % of the requests more than 41.0 ms late and used 60 % of a core.",
  ],
  [
    "other processes",
    { lateness: latencyOf([41]) },
    "Other processes delayed the load generator: it sent 1 % of the requests more than 41.0 ms late and used 7 % of a core.",
  ],
  [
    "its connections",
    { connectionErrors: { EMFILE: 1 } },
    "The load generator was the bottleneck: it could not open more connections (EMFILE).",
  ],
])("a load generator limited by %s is reported", (_, figures, sentence) => {
  expect(bottleneckOf({ ...idle, ...figures })).toBe(sentence);
});
