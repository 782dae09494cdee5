/** The exact report on a terminal, with aligned figures and warnings. */
import { expect, test } from "bun:test";
import type { Latency, OperationResult } from "../../src/measure/results.ts";
import { formatMs, formatShare } from "../../src/report/format.ts";
import { capacityCommandOf, runCommandOf } from "../../src/report/shell-command.ts";
import { describeCapacity, describeRun } from "../../src/report/text.ts";
import { exampleCapacity, exampleRun } from "../support/example-run.ts";

const latency: Latency = { count: 1000, mean: 140, p50: 120.4, p95: 640, p99: 912, max: 1503.6, curve: [] };
const login: OperationResult = {
  sent: 5400,
  statuses: { "200": 5321, "401": 67, "503": 12 },
  errors: 12,
  perSecond: 89.8,
  latency,
};
const me: OperationResult = { sent: 12, statuses: {}, errors: 12, perSecond: 0, latency: null };
const probe = {
  latency: { ...latency, count: 12000, p50: 0.27, p95: 0.58, p99: 1.234, max: 24.51 },
  failure: null,
};
const run = exampleRun({ all: login, operations: { login }, probe });

test("a run has its load, each operation, the probe, the load generator and the service", () => {
  expect(describeRun(run)).toBe(`\
load    login, 90/s, Poisson arrivals, 60 s; 1,000 users, 2 % wrong passwords
url     http://127.0.0.1:3000

         rate/s    p50 ms    p95 ms    p99 ms    max ms   statuses
login      89.8       120       640       912     1,504   200 × 5,321, 401 × 67, 503 × 12; 12 unexpected
probe     200.0      0.27      0.58      1.23      24.5   12,000 responses of /healthz

driver  6 % of one core; sent 0.31 ms late at p99
server  kernel avx512, 2 workers, 21 of 64 lanes busy, 0 queued; estimated capacity 100.4/s
`);
});

test("an interruption is reported first and warnings last; missing measurements are dashes", () => {
  const load = { kind: "closed", concurrency: 48 } as const;
  const text = describeRun({
    ...run,
    asked: { ...run.asked, scenario: "mixed", load, users: 1, unknownPercent: 5, wrongPercent: 0 },
    outcome: "interrupted",
    countedSeconds: 12.34,
    operations: { login, me },
    probe: { latency: null, failure: "the connection was closed" },
    driver: { cpuShare: 0.984, lateness: null, bottleneck: "it used 98 % of its core." },
    server: null,
  });
  expect(text).toBe(`\
Interrupted after 12.3 s of 60 s: the figures cover only this time.
load    mixed, 48 clients, 60 s; 1 user, 5 % unknown
url     http://127.0.0.1:3000

         rate/s    p50 ms    p95 ms    p99 ms    max ms   statuses
login      89.8       120       640       912     1,504   200 × 5,321, 401 × 67, 503 × 12; 12 unexpected
me          0.0         –         –         –         –   no response; 12 unexpected
all        89.8       120       640       912     1,504   200 × 5,321, 401 × 67, 503 × 12; 12 unexpected
probe         –         –         –         –         –   no response

driver  98 % of one core
WARNING The load generator was the bottleneck, not the service: it used 98 % of its core.
WARNING The probes ended early: the connection was closed
`);
});

test("a capacity search has its rates in order of time and the sentence last", () => {
  const { steps } = exampleCapacity();
  expect(describeCapacity(exampleCapacity({ steps: steps.slice(2, 5) }))).toBe(`\
Capacity of logins with p99 within 1,000 ms
url     http://127.0.0.1:3000

        offered/s  achieved/s    p50 ms    p99 ms      shed    errors
passed         80        79.9       131       402         0         0
failed        160        96.1     3,170     5,102     1,290         0
failed        100        96.1     1,410     2,630        41         0

${exampleCapacity().sentence}
`);
});

test("the command repeats the run, with an address that needs quoting", () => {
  expect(runCommandOf(run.asked)).toBe(
    "bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90 --arrivals poisson " +
      "--duration 60 --users 1000 --unknown 0 --wrong 2 --seed 1",
  );
  const closed = { ...run.asked, url: "http://a/$(id)'", load: { kind: "closed", concurrency: 48 } } as const;
  expect(runCommandOf(closed)).toContain(
    `--url 'http://a/$(id)'\\''' --scenario login --concurrency 48 --duration`,
  );
  expect(capacityCommandOf(exampleCapacity())).toBe(
    "bun run loadtest --url http://127.0.0.1:3000 --find-capacity --p99 1000ms",
  );
});

test("figures are rounded to their measured digits, and percentages never to 0 or 100", () => {
  const written = [0.004, 9.994, 9.996, 99.94, 99.96, 12345.6].map(formatMs);
  expect(written).toEqual(["0.00", "9.99", "10.0", "99.9", "100", "12,346"]);
  const shares = [0, 1, 13, 50_000, 99_999, 100_000].map((part) => formatShare(part, 100_000));
  expect(shares).toEqual(["0 %", "< 0.01 %", "0.01 %", "50 %", "> 99.99 %", "100 %"]);
  expect(formatShare(0, 0)).toBe("–");
});
