/** A run and a capacity search, the same at every call, with consistent sums and percentiles. */
import type { CapacityReport } from "../../src/capacity/find-capacity.ts";
import { type Latency, LatencyHistogram } from "../../src/measure/histogram.ts";
import type { OperationResult } from "../../src/measure/recorder.ts";
import type { RunReport } from "../../src/report/run-summary.ts";
import { runOptionsOf } from "./run-options.ts";

const SECONDS = 60;
const PER_SECOND = 90;

export function latencyOf(values: readonly number[]): Latency | null {
  const histogram = new LatencyHistogram();
  for (const value of values) histogram.record(value);
  return histogram.summary();
}

/** With a stall of the service in second 34. */
const SECONDLY = Array.from({ length: SECONDS }, (_, second) => {
  const [p50, p99] = second === 34 ? [313, 491] : [113, 292];
  const errors = second === 35 ? 7 : 0;
  return { second, offered: PER_SECOND, answered: PER_SECOND - errors, errors, p50, p99 };
});

const ascending = (count: number, from: number, to: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + (to - from) * (index / count) ** 4);

export function exampleRun(changes: Partial<RunReport> = {}): RunReport {
  const login: OperationResult = {
    sent: PER_SECOND * SECONDS,
    statuses: { "200": 5321, "401": 72, "503": 7 },
    connectionErrors: {},
    errors: 7,
    perSecond: 89.88,
    latency: latencyOf(ascending(5393, 100, 500)),
  };
  const load = { kind: "open", ratePerSecond: PER_SECOND, arrivals: "poisson" } as const;
  const url = "http://127.0.0.1:3000";
  return {
    version: 1,
    startedAt: "2026-03-14T09:26:53.589Z",
    machine: "AMD EPYC 9354P, 2 cores, Bun 1.4.5 on Linux x64",
    asked: runOptionsOf({ url, load, durationSeconds: SECONDS, users: 1000, wrongPercent: 2 }),
    outcome: "complete",
    overloaded: false,
    countedSeconds: SECONDS,
    all: login,
    operations: { login },
    seconds: SECONDLY,
    probe: { latency: latencyOf(ascending(12_000, 0.2, 1.5)), failure: null },
    driver: { cpuShare: 0.06, waitShare: 0, lateness: latencyOf([0.05, 0.08, 0.1, 0.31]), bottleneck: null },
    server: {
      ...{ kernel: "avx512", workers: 2, lanes: 64, lanesBusy: 21, queueLength: 0 },
      capacityPerSecond: 100.4,
    },
    command: "bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90",
    assertions: [],
    ...changes,
  };
}

const stepOf = (ratePerSecond: number, [p50, p99]: readonly [number, number], shed = 0, attempt = 1) => ({
  ratePerSecond,
  sentPerSecond: ratePerSecond + 0.3,
  achievedPerSecond: Math.min(ratePerSecond, 96.2) - 0.1,
  p50,
  p99,
  shed,
  errors: 0,
  overloaded: shed > 0,
  passed: shed === 0 && p99 <= 1000,
  attempt,
});

export function exampleCapacity(changes: Partial<CapacityReport> = {}): CapacityReport {
  return {
    version: 1,
    startedAt: "2026-03-14T09:26:53.589Z",
    machine: "AMD EPYC 9354P, 2 cores, Bun 1.4.5 on Linux x64",
    url: "http://127.0.0.1:3000",
    outcome: "complete",
    p99BoundMs: 1000,
    steps: [
      stepOf(80, [131, 402]),
      stepOf(100, [1410, 2630], 41),
      stepOf(100, [1520, 2810], 58, 2),
      stepOf(90, [210, 655]),
      stepOf(92, [263, 861]),
    ],
    loginsPerSecond: 91.9,
    p99: 861,
    cores: 2,
    kernel: "avx512",
    shareOfRaw: 0.916,
    bottleneck: null,
    command: "bun run loadtest --url http://127.0.0.1:3000 --find-capacity --p99 1000ms",
    ...changes,
  };
}
