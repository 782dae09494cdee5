/** The clauses of `--assert`: their syntax and their results. */
import { expect, test } from "bun:test";
import { checkAssertions, parseAssertions } from "../../src/measure/assertions.ts";
import type { OperationResult } from "../../src/measure/recorder.ts";
import type { Run } from "../../src/measure/run.ts";
import { exampleRun } from "../support/example-run.ts";

const latency = {
  ...{ count: 1000, mean: 240.25, p50: 200, p90: 650, p95: 700, p99: 912, "p99.9": 1400, max: 1500 },
};
const operationOf = (changes: Partial<OperationResult>): OperationResult => ({
  ...{ sent: 1000, statuses: {}, connectionErrors: {}, errors: 4, perSecond: 88.125, latency },
  ...changes,
});
const login = operationOf({});
const unused = operationOf({ sent: 0, errors: 0, perSecond: 0, latency: null });
const run = exampleRun({
  all: operationOf({ sent: 2000 }),
  operations: { login, "create-todo": { ...unused, sent: 3, errors: 3 }, me: unused },
  probe: { latency: { ...latency, p99: 0.75 }, failure: null },
});

const OPERATIONS = ["login", "create-todo", "me", "todos"];
const check = (text: string, of: Run = run) => checkAssertions(parseAssertions(text, OPERATIONS), of);

test.each([
  "login.p50<=200ms",
  "login.p99 < 912.5 ms",
  "login.max>=1500ms",
  "login.rate>=88.125/s",
  "create-todo.errors<=3",
  "login.p99<1s, errors<1%,probe.p99<1ms",
])("%s passes", (text) => {
  for (const { passed, measured } of check(text)) {
    expect(passed).toBe(true);
    expect(measured).toBeNumber();
  }
});

test.each([
  ["login.p99<0.8s", "login.p99 < 0.8 s", 0.912, "0.912 s"],
  ["login.p99<912ms", "login.p99 < 912 ms", 912, "912 ms"],
  ["login.mean<=100us", "login.mean <= 100 us", 240_250, "240250 us"],
  ["login.rate>90", "login.rate > 90/s", 88.125, "88.125/s"],
  ["login.errors<4", "login.errors < 4", 4, "4"],
  ["errors<0.1%", "errors < 0.1 %", 0.2, "0.2 %"],
  ["probe.p99>=1ms", "probe.p99 >= 1 ms", 0.75, "0.75 ms"],
])("%s fails, with the measured value in its unit", (text, assertion, measured, result) => {
  expect(check(text)).toEqual([{ assertion, passed: false, measured, result }]);
});

const broken = { ...run, probe: { latency, failure: "the connection was closed" } };
const mute = { ...run, probe: { latency: null, failure: null } };
test.each([
  ["todos.p99<1s", run, "the run had no operation todos, only login, create-todo, me"],
  ["create-todo.p99<1s", run, "there was no expected response"],
  ["me.errors<1", run, "no request was sent"],
  ["probe.p99<5ms", mute, "there was no response to a probe"],
  ["probe.p99<5s", broken, "the probes ended early: the connection was closed"],
  ["errors<1", { ...run, all: unused }, "no request was sent"],
])("%s fails without a measurement", (text, of, result) => {
  expect(check(text, of)).toEqual([expect.objectContaining({ passed: false, measured: null, result })]);
});

test.each([
  ["login.p99<1s,", '""', "not a valid assertion"],
  ["errors<1,login.p99", '"login.p99"', "not a valid assertion"],
  ["logn.p99<1s", '"logn.p99<1s"', `the scenario has no operation logn, only ${OPERATIONS.join(", ")}`],
  ["login.p99.5<1s", '"login.p99.5<1s"', "unknown metric p99.5"],
  ["p99<800ms", '"p99<800ms"', "p99 needs an operation, such as login.p99"],
  ["probe.rate>1", '"probe.rate>1"', "the probe has no rate"],
  ["login.p99<800", '"login.p99<800"', "p99 needs a unit: ms, s or us"],
  ["login.rate>9ms", '"login.rate>9ms"', "rate cannot be in ms"],
])("%s is rejected before the run", (text, clause, problem) => {
  const parse = () => parseAssertions(text, OPERATIONS);
  expect(parse).toThrow(`--assert ${clause}: ${problem}`);
  expect(parse).toThrow(expect.objectContaining({ exitCode: 64 }));
});
