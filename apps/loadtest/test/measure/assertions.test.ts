/** The clauses of `--assert`: their syntax, and the message of each failed assertion. */
import { describe, expect, test } from "bun:test";
import { CliError } from "@latchkey/cli";
import { checkAssertions, parseAssertions } from "../../src/measure/assertions.ts";
import type { Latency, OperationResult, Run } from "../../src/measure/results.ts";
import { exampleRun } from "../support/example-run.ts";

const latency: Latency = { count: 1000, mean: 240.25, p50: 200, p95: 700, p99: 912, max: 1500, curve: [] };
const login: OperationResult = {
  sent: 1000,
  statuses: { "200": 996, "503": 4 },
  errors: 4,
  perSecond: 88.125,
  latency,
};
const silent: OperationResult = { sent: 3, statuses: { none: 3 }, errors: 3, perSecond: 0, latency: null };
const unused: OperationResult = { sent: 0, statuses: {}, errors: 0, perSecond: 0, latency: null };
const run = exampleRun({
  all: { ...login, sent: 2000 },
  operations: { login, "create-todo": silent, me: unused },
  probe: { latency: { ...latency, p99: 0.75 }, failure: null },
});

const check = (text: string, of: Run = run): readonly string[] => checkAssertions(parseAssertions(text), of);

describe("a satisfied assertion has no message", () => {
  test.each([
    "login.p50<=200ms",
    "login.p95<800ms",
    "login.p99<1s",
    "login.p99 < 912.5 ms",
    "login.max>=1500ms",
    "login.mean<240300us",
    "login.rate>88",
    "login.rate>=88.125/s",
    "login.errors<5",
    "login.errors<=0.4%",
    "errors<0.3%",
    "errors<=4",
    "rate>80/s",
    "probe.p99<5ms",
    "create-todo.errors<=3",
    "login.p99<1s, errors<1%,probe.p99<1ms",
  ])("%s", (text) => expect(check(text)).toEqual([]));
});

describe("the message of a failed assertion contains the measured value", () => {
  test.each([
    ["login.p99<800ms", "login.p99 was 912 ms, not < 800 ms"],
    ["login.p99<0.8s", "login.p99 was 0.912 s, not < 0.8 s"],
    ["login.p99<912ms", "login.p99 was 912 ms, not < 912 ms"],
    ["login.mean<=100us", "login.mean was 240250 us, not <= 100 us"],
    ["login.rate>90", "login.rate was 88.125/s, not > 90/s"],
    ["login.errors<4", "login.errors was 4, not < 4"],
    ["errors<0.1%", "errors was 0.2 %, not < 0.1 %"],
    ["probe.p99>=1ms", "probe.p99 was 0.75 ms, not >= 1 ms"],
    ["create-todo.errors<50%", "create-todo.errors was 100 %, not < 50 %"],
  ])("%s", (text, sentence) => expect(check(text)).toEqual([sentence]));

  test("for each of several assertions, in order", () => {
    expect(check("login.p99<800ms,rate>1,errors<1")).toEqual([
      "login.p99 was 912 ms, not < 800 ms",
      "errors was 4, not < 1",
    ]);
  });
});

describe("an assertion on a missing measurement fails", () => {
  const broken = { ...run, probe: { latency, failure: "the connection was closed" } };
  const mute = { ...run, probe: { latency: null, failure: null } };
  test.each([
    [
      "logn.p99<1s",
      run,
      "logn.p99 cannot be checked: the run had no operation logn, only login, create-todo, me",
    ],
    ["constructor.rate>0", run, "the run had no operation constructor, only login, create-todo, me"],
    ["create-todo.p99<1s", run, "create-todo.p99 cannot be checked: there was no expected response"],
    ["me.errors<1", run, "me.errors cannot be checked: no request was sent"],
    ["probe.p99<5ms", mute, "probe.p99 cannot be checked: there was no response to a probe"],
    ["probe.p99<5s", broken, "the probes ended early: the connection was closed"],
    ["errors<1", { ...run, all: unused }, "errors cannot be checked: no request was sent"],
  ])("%s", (text, of, sentence) => {
    expect(check(text, of)).toEqual([expect.stringContaining(sentence)]);
  });
});

describe("an invalid assertion is reported before the run", () => {
  test.each([
    ["", '""', "not a valid assertion"],
    ["login.p99<1s,", '""', "not a valid assertion"],
    ["errors<1,login.p99", '"login.p99"', "not a valid assertion"],
    ["login.p99=800ms", '"login.p99=800ms"', "not a valid assertion"],
    ["login.p99<-1ms", '"login.p99<-1ms"', "not a valid assertion"],
    ["login.p99<1e3ms", '"login.p99<1e3ms"', "not a valid assertion"],
    ["login.p99<800min", '"login.p99<800min"', "not a valid assertion"],
    ["login.p90<800ms", '"login.p90<800ms"', "unknown metric p90"],
    ["p99<800ms", '"p99<800ms"', "p99 needs an operation, such as login.p99"],
    ["probe.rate>1", '"probe.rate>1"', "the probe has no rate"],
    ["probe.errors<1", '"probe.errors<1"', "the probe has no errors"],
    ["login.p99<800", '"login.p99<800"', "p99 needs a unit: ms, s or us"],
    ["login.p99<8%", '"login.p99<8%"', "p99 needs a unit: ms, s or us"],
    ["login.rate>9ms", '"login.rate>9ms"', "rate cannot be in ms"],
    ["errors<1/s", '"errors<1/s"', "errors cannot be in /s"],
  ])("%s", (text, clause, problem) => {
    const parse = () => parseAssertions(text);
    expect(parse).toThrow(CliError);
    expect(parse).toThrow(`--assert ${clause}: ${problem}. Accepted: metric, < <= > or >=, and a value`);
    expect(parse).toThrow(expect.objectContaining({ exitCode: 64 }));
  });
});
