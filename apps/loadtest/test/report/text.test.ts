/** The exact report on a terminal, with aligned figures and warnings. */
import { expect, test } from "bun:test";
import { type CommandOptions, commandOf } from "../../src/cli/options.ts";
import { parseAssertions } from "../../src/measure/assertions.ts";
import type { Latency, OperationResult } from "../../src/measure/results.ts";
import { formatMs, formatShare } from "../../src/report/format.ts";
import { renderJunit } from "../../src/report/junit.ts";
import { describeCapacity, describeRun, describeSearch } from "../../src/report/text.ts";
import { exampleCapacity, exampleRun } from "../support/example-run.ts";

const latency: Latency = {
  count: 1000,
  mean: 140,
  p50: 120.4,
  p90: 512,
  p95: 640,
  p99: 912,
  "p99.9": 1402.1,
  max: 1503.6,
  curve: [],
};
const login: OperationResult = {
  sent: 5400,
  statuses: { "200": 5321, "401": 67, "503": 12, none: 3 },
  connectionErrors: { refused: 2, "timed out": 1 },
  errors: 15,
  perSecond: 89.8,
  latency,
};
const me: OperationResult = {
  sent: 12,
  statuses: {},
  connectionErrors: {},
  errors: 12,
  perSecond: 0,
  latency: null,
};
const probe = {
  latency: { ...latency, count: 12000, p50: 0.27, p90: 0.4, p95: 0.58, p99: 1.234, "p99.9": 9.2, max: 24.51 },
  failure: null,
};
const run = exampleRun({ all: login, operations: { login }, probe });

const commandOptions: CommandOptions = {
  asked: run.asked,
  arrivals: "poisson",
  timeoutSeconds: 10,
  seedDatabaseUrl: undefined,
  metricsUrl: undefined,
  assertions: [],
  p99BoundMs: null,
};

test("a run has its load, operations, statuses, load generator, service, command and assertions", () => {
  const assertions = [
    { assertion: "login.p99 < 1 s", passed: true, measured: 0.912, result: "0.912 s" },
    { assertion: "errors < 0.1 %", passed: false, measured: 0.22, result: "0.22 %" },
  ];
  expect(describeRun({ ...run, overloaded: true, assertions })).toBe(`\
Overloaded: 90 of 90/s answered
load         login, 90/s, Poisson arrivals, 60 s; 1,000 users, 2 % wrong
             passwords
url          http://127.0.0.1:3000

        rate/s   p50 ms   p90 ms   p95 ms   p99 ms  p99.9 ms   max ms
login     89.8      120      512      640      912     1,402    1,504
probe    200.0     0.27     0.40     0.58     1.23      9.20     24.5

login        200 × 5,321, 401 × 67, 503 × 12, refused × 2, timed out × 1; 15
             unexpected
probe        12,000 responses of /healthz

driver       6 % of one core; sent 0.31 ms late at p99
server       kernel avx512, 2 workers, 21 of 64 lanes busy, 0 queued; estimated
             capacity 100.4/s

Repeat with:
  bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90

✓ login.p99 < 1 s: 0.912 s
✗ errors < 0.1 %: 0.22 %
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
load         mixed, 48 clients, 60 s; 1 user, 5 % unknown
url          http://127.0.0.1:3000

        rate/s   p50 ms   p90 ms   p95 ms   p99 ms  p99.9 ms   max ms
login     89.8      120      512      640      912     1,402    1,504
me         0.0        –        –        –        –         –        –
all       89.8      120      512      640      912     1,402    1,504
probe        –        –        –        –        –         –        –

login        200 × 5,321, 401 × 67, 503 × 12, refused × 2, timed out × 1; 15
             unexpected
me           no response; 12 unexpected
all          200 × 5,321, 401 × 67, 503 × 12, refused × 2, timed out × 1; 15
             unexpected
probe        no response

driver       98 % of one core

Repeat with:
  bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90

WARNING      The load generator was the bottleneck, not the service: it used
             98 % of its core.

WARNING      The probes ended early: the connection was closed
`);
});

test("no line is wider than 80 columns, with the largest figures", () => {
  const largest = { ...latency, p50: 599_999, p90: 599_999, p95: 599_999, p99: 599_999, "p99.9": 599_999 };
  const statuses = Object.fromEntries(
    ["200", "401", "409", "422", "429", "500", "503"].map((each) => [each, 1e7]),
  );
  const operation = { ...login, perSecond: 20_000, statuses, latency: { ...largest, max: 599_999 } };
  const asked = { ...run.asked, scenario: "mixed", users: 100_000, unknownPercent: 12.5 } as const;
  const command = commandOf({ ...commandOptions, asked, seedDatabaseUrl: "file:./data/latchkey.db" });
  const operations = { login: operation, me: operation, todos: operation, "create-todo": operation };
  const texts = [
    describeRun({ ...run, asked, operations, all: operation, overloaded: true, command }),
    describeCapacity(
      exampleCapacity({ command, sentence: "A long sentence about the capacity. ".repeat(9) }),
    ),
  ];
  for (const line of texts.join("").split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("a capacity search has its rates in order of time and the sentence last", () => {
  const { steps } = exampleCapacity();
  const sentence = "This machine handles 92.0 logins/s.";
  expect(describeCapacity(exampleCapacity({ steps: steps.slice(2, 5), sentence }))).toBe(`\
Capacity of logins with p99 within 1,000 ms
url          http://127.0.0.1:3000

        offered/s  achieved/s    p50 ms    p99 ms  rejected    errors  attempts
passed         80        79.9       131       402         0         0         1
failed        160        96.1     3,170     5,102     1,290         0         2
failed        100        96.1     1,410     2,630        41         0         2

Repeat with:
  bun run loadtest --url http://127.0.0.1:3000 --find-capacity --p99 1000ms

This machine handles 92.0 logins/s.
`);
});

test("the progress of a capacity search has the step, the total and the remaining time", () => {
  const [passed, , , failed] = exampleCapacity().steps;
  if (passed === undefined || failed === undefined) throw new Error("The example has no steps.");
  const remaining = { steps: 9, seconds: 99.5 };
  const point = { concurrency: 4, perSecond: 75.6, p50: 52 };
  expect(describeSearch({ done: 0, remaining, completed: null })).toBe(
    "9 steps expected, about 1 min 40 s left",
  );
  expect(describeSearch({ done: 3, remaining, completed: point })).toBe(
    "step 3 of about 12: 4 clients, 75.6 logins/s, p50 52.0 ms; about 1 min 40 s left",
  );
  expect(describeSearch({ done: 4, remaining: { steps: 8, seconds: 9 }, completed: passed })).toBe(
    "step 4 of about 12: rate 20/s, 19.9 of 20.3/s answered, p99 88.0 ms, passed; about 9 s left",
  );
  const first = { ...failed, attempts: 1 };
  expect(describeSearch({ done: 4, remaining, completed: first })).toStartWith(
    "step 5 of about 13: rate 160/s, 96.1 of 160.3/s answered, p99 5,102 ms, failed, is repeated; ",
  );
  expect(describeSearch({ done: 5, remaining, completed: failed })).toContain("failed twice");
});

test("the command contains every option that determines the result, quoted for a shell", () => {
  expect(commandOf(commandOptions)).toBe(
    "bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90 --arrivals poisson " +
      "--duration 60s --timeout 10s --users 1000 --unknown 0 --wrong 2 --seed 1",
  );
  const closed = { ...run.asked, url: "http://a/$(id)'", load: { kind: "closed", concurrency: 48 } } as const;
  const assertions = parseAssertions("login.p99<800ms, rate>=90,errors<1%", ["login"]);
  const seedDatabaseUrl = "postgres://user:secret@db/latchkey";
  expect(
    commandOf({ ...commandOptions, asked: closed, assertions, seedDatabaseUrl, metricsUrl: "http://m" }),
  ).toBe(
    "bun run loadtest --url 'http://a/$(id)'\\''' --scenario login --concurrency 48 --duration 60s --timeout 10s " +
      "--users 1000 --unknown 0 --wrong 2 --seed 1 --metrics http://m --assert 'login.p99<800ms,rate>=90/s,errors<1%' " +
      '--seed-database "$DATABASE_URL"',
  );
  expect(commandOf({ ...commandOptions, p99BoundMs: 1000, seedDatabaseUrl: "file:a b.db" })).toBe(
    "bun run loadtest --url http://127.0.0.1:3000 --scenario login --find-capacity --p99 1000ms --arrivals poisson " +
      "--duration 60s --timeout 10s --users 1000 --unknown 0 --wrong 2 --seed 1 --seed-database 'file:a b.db'",
  );
});

test("JUnit XML has a test case per assertion, with escaped texts", () => {
  const assertions = [
    { assertion: "login.p99 < 1 s", passed: true, measured: 0.912, result: "0.912 s" },
    { assertion: "me.rate > 1/s", passed: false, measured: null, result: 'no "me" & <others>' },
  ];
  expect(renderJunit({ ...run, assertions })).toBe(`\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="Latchkey load test" tests="2" failures="1" errors="0" time="60">
  <testsuite name="login, 90/s, Poisson arrivals, http://127.0.0.1:3000" timestamp="2026-03-14T09:26:53.589Z" tests="2" failures="1" errors="0" time="60" skipped="0">
    <testcase classname="loadtest.login" name="login.p99 &lt; 1 s" time="0">
      <system-out>0.912 s</system-out>
    </testcase>
    <testcase classname="loadtest.login" name="me.rate &gt; 1/s" time="0">
      <failure type="assertion" message="no &quot;me&quot; &amp; &lt;others&gt;"/>
    </testcase>
  </testsuite>
</testsuites>
`);
});

test("figures are rounded to their measured digits, and percentages never to 0 or 100", () => {
  const written = [0.004, 9.994, 9.996, 99.94, 99.96, 12345.6].map(formatMs);
  expect(written).toEqual(["0.00", "9.99", "10.0", "99.9", "100", "12,346"]);
  const shares = [0, 1, 13, 50_000, 99_999, 100_000].map((part) => formatShare(part, 100_000));
  expect(shares).toEqual(["0 %", "< 0.01 %", "0.01 %", "50 %", "> 99.99 %", "100 %"]);
  expect(formatShare(0, 0)).toBe("–");
});
