/** Conditions for a run, such as `--assert 'login.p99<800ms,errors<0.1%'`, parsed before the run and checked after it. */
import { usageError } from "@latchkey/cli";
import type { Run } from "./run.ts";

const FIGURES = ["p50", "p90", "p95", "p99", "p99.9", "max", "mean", "rate", "errors"] as const;

const OPERATORS: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
};

type Unit = "ms" | "s" | "us" | "/s" | "%" | "";

export type AssertionResult = ReturnType<typeof checkAssertion>;

export type Assertion = ReturnType<typeof parseClause>;

const CLAUSE =
  /^(?:([a-z][a-z-]*)\.)?([a-z0-9]+(?:\.\d)?)\s*(<=|>=|<|>)\s*(\d+(?:\.\d+)?)\s*(ms|s|us|%|\/s)?$/;

const ACCEPTED =
  "metric, < <= > or >=, and a value, such as login.p99<800ms, errors<0.1%, probe.p99<5ms or login.rate>90; " +
  "metrics are p50, p90, p95, p99, p99.9, max and mean (in ms, s or us) of an operation or of the probe, and rate (per " +
  "second) and errors (a count or a percentage) of an operation or, without a name, of all operations";

/**
 * @param operations the operations of the run's scenario
 * @throws {CliError} with exit code 64; the message contains the invalid clause and the accepted syntax
 */
export function parseAssertions(text: string, operations: readonly string[]): readonly Assertion[] {
  return text.split(",").map((clause) => parseClause(clause.trim(), operations));
}

function parseClause(clause: string, operations: readonly string[]) {
  const invalid = (problem: string) =>
    usageError(`--assert ${JSON.stringify(clause)}: ${problem}. Accepted: ${ACCEPTED}.`);
  const parts = CLAUSE.exec(clause);
  if (parts === null) throw invalid("not a valid assertion");
  const [, subject = null, name = "", sign = "", limit = "", suffix = ""] = parts;
  if (subject !== null && subject !== "probe" && !operations.includes(subject))
    throw invalid(`the scenario has no operation ${subject}, only ${operations.join(", ")}`);
  const figure = FIGURES.find((known) => known === name);
  if (figure === undefined) throw invalid(`unknown metric ${name}`);
  const isLatency = figure !== "rate" && figure !== "errors";
  if (isLatency && subject === null) throw invalid(`${figure} needs an operation, such as login.${figure}`);
  if (!isLatency && subject === "probe") throw invalid(`the probe has no ${figure}`);
  const units: readonly Unit[] = isLatency ? ["ms", "s", "us"] : figure === "rate" ? ["/s"] : ["", "%"];
  const unit = units.find((known) => known === (suffix || (figure === "rate" ? "/s" : "")));
  if (unit === undefined) {
    throw invalid(isLatency ? `${figure} needs a unit: ms, s or us` : `${figure} cannot be in ${suffix}`);
  }
  return {
    /** A text such as `login.p99`. */
    metric: subject === null ? figure : `${subject}.${figure}`,
    /** `probe`, an operation, or null for all operations together. */
    subject,
    figure,
    operator: sign,
    /** In `unit`: `ms`, `s` or `us` for a latency, `/s` for a rate; for errors, `%` of the sent requests, or empty for a count. */
    limit: Number(limit),
    unit,
  };
}

export const checkAssertions = (assertions: readonly Assertion[], run: Run): readonly AssertionResult[] =>
  assertions.map((assertion) => checkAssertion(assertion, run));

/** An assertion on a missing measurement fails. */
function checkAssertion(checked: Assertion, run: Run) {
  const { metric, operator, limit, unit } = checked;
  const measured = measure(checked, run);
  const isMissing = typeof measured === "string";
  return {
    /** A text such as `login.p99 < 800 ms`. */
    assertion: `${metric} ${operator} ${format(limit, unit)}`,
    passed: !isMissing && OPERATORS[operator]?.(measured, limit) === true,
    /** The measured value in the unit of the assertion; null if the measurement is missing. */
    measured: isMissing ? null : measured,
    /** The measured value with its unit, or the reason why the measurement is missing. */
    result: isMissing ? measured : format(measured, unit),
  };
}

/** Returns the measured value in the unit of the assertion, or the reason why the measurement is missing. */
function measure({ subject, figure, unit }: Assertion, { all, operations, probe }: Run): number | string {
  if (subject === "probe" && probe.failure !== null) return `the probes ended early: ${probe.failure}`;
  const result = subject === null ? all : subject === "probe" ? probe : operations[subject];
  if (result === undefined) {
    return `the run had no operation ${subject}, only ${Object.keys(operations).join(", ") || "none"}`;
  }
  if (figure === "rate" || figure === "errors") {
    // `result` always has `sent`, because the parser rejects `probe.rate` and `probe.errors`.
    if (!("sent" in result) || result.sent === 0) return "no request was sent";
    if (figure === "rate") return result.perSecond;
    return unit === "%" ? (100 * result.errors) / result.sent : result.errors;
  }
  if (result.latency === null)
    return subject === "probe" ? "there was no response to a probe" : "there was no expected response";
  const milliseconds = result.latency[figure];
  if (unit === "s") return milliseconds / 1000;
  return unit === "us" ? milliseconds * 1000 : milliseconds;
}

/** Formats six digits, so that a value just above the limit is not printed as the limit. */
function format(value: number, unit: Unit): string {
  const number = Number(value.toPrecision(6));
  return unit === "" || unit === "/s" ? `${number}${unit}` : `${number} ${unit}`;
}
