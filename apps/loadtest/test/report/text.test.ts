/** The exact reports on a terminal, with aligned figures and warnings. */
import { expect, test } from "bun:test";
import { commandOf } from "../../src/cli/options.ts";
import { summarizeCapacity } from "../../src/report/capacity-summary.ts";
import { summarizeRun } from "../../src/report/run-summary.ts";
import { describe, describeStep } from "../../src/report/text.ts";
import { exampleCapacity, exampleRun } from "../support/example-run.ts";

const run = exampleRun();
const { all: login, asked } = run;
const silent = {
  ...{ sent: 15, statuses: { none: 15 }, connectionErrors: { refused: 12, "timed out": 3 } },
  ...{ errors: 15, perSecond: 0, latency: null },
};

test("a run has its figures, statuses, load generator, service, command and assertions", () => {
  const assertions = [
    { assertion: "login.p99 < 1 s", passed: true, measured: 0.48, result: "0.48 s" },
    { assertion: "errors < 0.1 %", passed: false, measured: 0.13, result: "0.13 %" },
  ];
  expect(describe(summarizeRun({ ...run, overloaded: true, assertions }))).toBe(`\
Overloaded: 89.9 of 90/s answered
Load test: login, 90/s, Poisson arrivals, 60 s

        rate/s   p50 ms   p90 ms   p95 ms   p99 ms  p99.9 ms   max ms
login     89.9      125      362      426      484       498      500
probe    200.0     0.28     1.05     1.26     1.45      1.49     1.50

URL          http://127.0.0.1:3000
users        1,000 users, 2 % wrong passwords
login        200 × 5,321, 401 × 72, 503 × 7; 7 unexpected
probe        12,000 responses of /healthz
driver       6 % of one core; sent 0.31 ms late at p99
server       kernel avx512, 2 workers, 21 of 64 lanes busy, 0 queued; estimated capacity 100.4/s
machine      AMD EPYC 9354P, 2 cores, Bun 1.4.5 on Linux x64

Repeat with:
  bun run loadtest --url http://127.0.0.1:3000 --scenario login --rate 90

✓ login.p99 < 1 s: 0.48 s
✗ errors < 0.1 %: 0.13 %
`);
});

test("an interruption is reported first and warnings last; missing measurements are dashes", () => {
  const load = { kind: "closed", concurrency: 48 } as const;
  const bottleneck = "The load generator used 98 % of its core.";
  const interrupted = summarizeRun({
    ...run,
    asked: { ...asked, scenario: "mixed", load, users: 1, unknownPercent: 5 },
    outcome: "interrupted",
    countedSeconds: 12.34,
    operations: { login, me: silent },
    probe: { latency: null, failure: "the connection was closed" },
    driver: { cpuShare: 0.984, waitShare: 0, lateness: null, bottleneck },
    server: null,
  });
  const text = describe(interrupted);
  expect(text).toStartWith("Interrupted after 12.3 s of 60 s: the figures cover only this time.\n");
  expect(text).toContain("Load test: mixed, 48 clients, 60 s\n");
  expect(text).toMatch(/^me +0\.0( +–){6}$/m);
  expect(text).toMatch(/^all +89\.9 /m);
  expect(text).toMatch(/^users +1 user, 5 % unknown, 2 % wrong passwords$/m);
  expect(text).toMatch(/^me +refused × 12, timed out × 3; 15 unexpected$/m);
  expect(text).toMatch(/^driver +98 % of one core$/m);
  expect(text).toEndWith(`
WARNING      The load generator used 98 % of its core.

WARNING      The probes ended early: the connection was closed
`);
});

test("a capacity search has every run of its rates in order of time, and the sentence last", () => {
  const text = describe(summarizeCapacity(exampleCapacity()));
  expect(text).toStartWith(`\
Capacity of logins with p99 within 1,000 ms

          offered/s  achieved/s   p50 ms   p99 ms  rejected   errors
✓ passed         80        79.9      131      402         0        0
✗ failed        100        96.1    1,410    2,630        41        0
✗ failed        100        96.1    1,520    2,810        58        0
✓ passed         90        89.9      210      655         0        0
✓ passed         92        91.9      263      861         0        0

URL `);
  expect(text).toEndWith(
    "This machine handles 91.9 logins/s with p99 at 861 ms: 46.0 per core on 2 hash workers with the avx512 kernel, 92 % of the raw capacity of the hashing core.\n",
  );
});

test.each([
  [{ cores: null, kernel: null, shareOfRaw: null }, "Add --metrics for the rate per core and the kernel.\n"],
  [{ loginsPerSecond: 0, p99: null }, "No rate had a p99 within 1,000 ms.\n"],
  [{ steps: [] }, "Interrupted before the first rate was complete.\n"],
])("the sentence of a capacity search with %j", (changes, sentence) => {
  expect(describe(summarizeCapacity(exampleCapacity(changes)))).toEndWith(sentence);
});

test("each run of a capacity search has a line", () => {
  const { steps, p99BoundMs } = exampleCapacity();
  const [passed, failed, repeated] = steps.map((step) => describeStep(step, p99BoundMs));
  expect(describeStep({ clients: 48, perSecond: 75.6 }, p99BoundMs)).toBe("48 clients, 75.6 logins/s");
  expect(passed).toBe("rate 80/s: 80.3/s sent, 79.9/s answered, p99 402 ms; passed");
  expect(failed).toBe(
    "rate 100/s: 100.3/s sent, 96.1/s answered, p99 2,630 ms; failed: 41 were rejected, too few were answered, p99 exceeds 1,000 ms; is repeated",
  );
  expect(repeated).toEndWith("failed again: 58 were rejected, too few were answered, p99 exceeds 1,000 ms");
  const [more] = steps.map((step) =>
    describeStep({ ...step, sentPerSecond: 22.5, achievedPerSecond: 25.3 }, 300),
  );
  expect(more).toBe("rate 80/s: 22.5/s sent, 25.3/s answered (also logins sent before), p99 402 ms; passed");
});

test("the command is quoted for a shell", () => {
  expect(commandOf(["--url", "http://a/$(id)'", "--assert", "login.p99<1s"])).toBe(
    "bun run loadtest --url 'http://a/$(id)'\\''' --assert 'login.p99<1s'",
  );
});
