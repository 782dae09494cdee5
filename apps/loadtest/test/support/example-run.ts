/** A realistic run and capacity search, the same at every call, with consistent sums and percentiles. */
import type { CapacityReport } from "../../src/capacity/find-capacity.ts";
import type { Latency, OperationResult, RunReport, Second } from "../../src/measure/results.ts";

const SECONDS = 60;
const PER_SECOND = 90;
const CAPACITY = 100;

/** Pseudo-random numbers from 0 to 1: a linear congruential generator with the constants of Numerical Recipes. */
function createDraw(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

export function latencyOf(values: readonly number[]): Latency | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent: number): number =>
    sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
  const percents = [0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 97, 98, 99, 99.5, 99.9, 99.99, 100];
  return {
    count: values.length,
    mean: values.reduce((sum, value) => sum + value, 0) / values.length,
    p50: at(50),
    p90: at(90),
    p95: at(95),
    p99: at(99),
    "p99.9": at(99.9),
    max: at(100),
    curve: percents.map((percent) => [percent, at(percent)] as const),
  };
}

/** A queue under Poisson arrivals, with a stall of the service in the middle. */
function simulate() {
  const draw = createDraw(7);
  const probe: number[] = [];
  const logins: number[] = [];
  const seconds: Second[] = [];
  let backlog = 0;
  let sent = 0;
  let shed = 0;
  for (let second = 0; second < SECONDS; second += 1) {
    const offered = Math.round(PER_SECOND + (draw() + draw() + draw() - 1.5) * 19);
    const capacity = second === 34 ? CAPACITY / 2 : CAPACITY;
    const lost = second === 35 ? 7 : 0;
    const waited = backlog;
    backlog = Math.max(0, waited + offered - lost - capacity);
    const answered = waited + offered - lost - backlog;
    const inSecond = Array.from(
      { length: answered },
      () => 96 + (1000 * backlog * draw()) / CAPACITY + 70 * draw() * draw() + 22 * draw(),
    );
    const probes = Array.from(
      { length: 200 },
      () => 0.22 + 0.4 * draw() ** 3 + (draw() > 0.985 ? 1.3 * draw() : 0),
    );
    logins.push(...inSecond);
    probe.push(...probes);
    sent += offered;
    shed += lost;
    const latency = latencyOf(inSecond);
    const probeP99 = latencyOf(probes)?.p99 ?? null;
    const { p50 = null, p99 = null } = latency ?? {};
    seconds.push({ second, offered, answered, errors: lost, p50, p99, probeP99 });
  }
  return { logins, probe, seconds, sent, shed };
}

export function exampleRun(changes: Partial<RunReport> = {}): RunReport {
  const { logins, probe, seconds, sent, shed } = simulate();
  const wrong = Math.round(0.02 * logins.length);
  const login: OperationResult = {
    sent,
    statuses: { "200": logins.length - wrong, "401": wrong, "503": shed },
    connectionErrors: {},
    errors: shed,
    perSecond: logins.length / SECONDS,
    latency: latencyOf(logins),
  };
  return {
    version: 1,
    startedAt: "2026-03-14T09:26:53.589Z",
    machine: "AMD EPYC 9354P, 2 cores, Bun 1.4.5 on Linux x64",
    asked: {
      url: "http://127.0.0.1:3000",
      scenario: "login",
      load: { kind: "open", ratePerSecond: PER_SECOND, arrivals: "poisson" },
      durationSeconds: SECONDS,
      users: 1000,
      unknownPercent: 0,
      wrongPercent: 2,
      seed: 1,
    },
    outcome: "complete",
    overloaded: false,
    countedSeconds: SECONDS,
    all: login,
    operations: { login },
    seconds,
    probe: { latency: latencyOf(probe), failure: null },
    driver: { cpuShare: 0.06, lateness: latencyOf([0.05, 0.08, 0.1, 0.31]), bottleneck: null },
    server: {
      kernel: "avx512",
      workers: 2,
      lanes: 64,
      lanesBusy: 21,
      queueLength: 0,
      capacityPerSecond: 100.4,
    },
    command: "bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90",
    assertions: [],
    ...changes,
  };
}

export function exampleCapacity(changes: Partial<CapacityReport> = {}): CapacityReport {
  const step = (ratePerSecond: number, p50: number, p99: number, shed = 0) => ({
    ratePerSecond,
    sentPerSecond: ratePerSecond + 0.3,
    achievedPerSecond: Math.min(ratePerSecond, 96.2) - 0.1,
    p50,
    p99,
    shed,
    errors: 0,
    overloaded: shed > 0,
    passed: shed === 0 && p99 <= 1000,
    attempts: shed === 0 && p99 <= 1000 ? 1 : 2,
  });
  return {
    version: 1,
    startedAt: "2026-03-14T09:26:53.589Z",
    machine: "AMD EPYC 9354P, 2 cores, Bun 1.4.5 on Linux x64",
    url: "http://127.0.0.1:3000",
    p99BoundMs: 1000,
    steps: [
      step(20, 51, 88),
      step(40, 63, 121),
      step(80, 131, 402),
      step(160, 3170, 5102, 1290),
      step(100, 1410, 2630, 41),
      step(90, 210, 655),
      step(95, 420, 1180),
      step(92, 263, 861),
    ],
    curve: [1, 2, 4, 8, 16, 32, 64, 128].map((concurrency) => {
      const perSecond = (96 * concurrency) / (concurrency + 3.2);
      return { concurrency, perSecond, p50: (1000 * concurrency) / perSecond };
    }),
    loginsPerSecond: 92,
    p99: 861,
    cores: 2,
    lanes: 64,
    kernel: "avx512",
    shareOfRaw: 0.916,
    command: "bun run loadtest --url http://127.0.0.1:3000 --find-capacity --p99 1000ms",
    sentence:
      "This machine handles 92.0 logins/s with p99 at 861 ms (bound 1000 ms): 46.0 per core on 2 hash workers with the avx512 kernel.",
    ...changes,
  };
}
