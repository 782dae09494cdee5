/** `--assert 'login.p99<800ms,errors<0.1%'`: what a run must hold, read before it begins and judged after it. */
import { LoadtestError } from "../errors.ts";
import type { Latency, OperationResult, Run } from "./results.ts";

const LATENCY_FIGURES = ["p50", "p95", "p99", "max", "mean"] as const;
type LatencyFigure = (typeof LATENCY_FIGURES)[number];
type Figure = LatencyFigure | "rate" | "errors";

const OPERATORS = {
  "<": (a: number, b: number) => a < b,
  "<=": (a: number, b: number) => a <= b,
  ">": (a: number, b: number) => a > b,
  ">=": (a: number, b: number) => a >= b,
} as const;
type Operator = keyof typeof OPERATORS;

/** How many of the unit are in a millisecond. */
const PER_MILLISECOND = { ms: 1, s: 0.001, us: 1000 } as const;

export interface Assertion {
  /** As it was written, without its limit: `login.p99`. */
  readonly metric: string;
  /** `probe`, an operation, or null for all of them together. */
  readonly subject: string | null;
  readonly figure: Figure;
  readonly operator: Operator;
  /** In `unit`. */
  readonly limit: number;
  /** Of a rate `/s`; of errors `%` of what was sent, or empty for their count. */
  readonly unit: keyof typeof PER_MILLISECOND | "/s" | "%" | "";
}

const CLAUSE = /^(?:([a-z][a-z-]*)\.)?([a-z0-9]+)\s*(<=|>=|<|>)\s*(\d+(?:\.\d+)?)\s*(ms|s|us|%|\/s)?$/;

const ACCEPTED =
  "metric, < <= > or >=, and a value, such as login.p99<800ms, errors<0.1%, probe.p99<5ms or login.rate>90; " +
  "metrics are p50, p95, p99, max and mean (in ms, s or us) of an operation or of the probe, " +
  "and rate (a second) and errors (a count, or a share in %) of an operation or, alone, of everything";

/** @throws {LoadtestError} with exit code 64, naming the clause and what would be accepted */
export function parseAssertions(text: string): readonly Assertion[] {
  return text.split(",").map((clause) => parseClause(clause.trim()));
}

function parseClause(clause: string): Assertion {
  const refuse = (problem: string) =>
    new LoadtestError(`--assert ${JSON.stringify(clause)}: ${problem}. Accepted: ${ACCEPTED}.`, 64);
  const parts = CLAUSE.exec(clause);
  if (parts === null) throw refuse("not a clause");
  const [, subject = null, name = "", sign = "", limit = "", suffix = ""] = parts;
  const figure = [...LATENCY_FIGURES, "rate", "errors"].find(isFigureNamed(name));
  if (figure === undefined) throw refuse(`there is no figure ${name}`);
  const isLatency = isLatencyFigure(figure);
  if (isLatency && subject === null) throw refuse(`${figure} of what`);
  if (!isLatency && subject === "probe") throw refuse(`the probe has no ${figure}`);
  const unit = unitOf(figure, suffix);
  if (unit === undefined) throw refuse(`${figure} is not measured in ${suffix || "a bare number"}`);
  if (!isOperator(sign)) throw refuse(`there is no comparison ${sign}`);
  const metric = subject === null ? figure : `${subject}.${figure}`;
  return { metric, subject, figure, operator: sign, limit: Number(limit), unit };
}

const isFigureNamed =
  (name: string) =>
  (figure: string): figure is Figure =>
    figure === name;
const isLatencyFigure = (figure: Figure): figure is LatencyFigure => figure !== "rate" && figure !== "errors";
const isOperator = (text: string): text is Operator => text in OPERATORS;

function unitOf(figure: Figure, suffix: string): Assertion["unit"] | undefined {
  if (figure === "rate") return suffix === "" || suffix === "/s" ? "/s" : undefined;
  if (figure === "errors") return suffix === "" || suffix === "%" ? suffix : undefined;
  return suffix === "ms" || suffix === "s" || suffix === "us" ? suffix : undefined;
}

/** A sentence for each assertion that does not hold. What was not measured never holds. */
export function judge(assertions: readonly Assertion[], run: Run): readonly string[] {
  return assertions.flatMap((assertion) => {
    const { metric, operator, limit, unit } = assertion;
    const measured = measure(assertion, run);
    if (typeof measured === "string") return [`${metric} could not be judged: ${measured}`];
    if (OPERATORS[operator](measured, limit)) return [];
    return [`${metric} was ${written(measured, unit)}, not ${operator} ${written(limit, unit)}`];
  });
}

/** In the unit of the assertion, or why there is nothing to compare. */
function measure({ subject, figure, unit }: Assertion, run: Run): number | string {
  if (isLatencyFigure(figure)) {
    const latency = latencyOf(subject, run);
    return typeof latency === "string" ? latency : inUnit(latency[figure], unit);
  }
  const result = operationOf(subject, run);
  if (typeof result === "string") return result;
  if (result.sent === 0) return "nothing was sent";
  if (figure === "rate") return result.perSecond;
  return unit === "%" ? (100 * result.errors) / result.sent : result.errors;
}

function latencyOf(subject: string | null, run: Run): Latency | string {
  if (subject !== "probe") {
    const result = operationOf(subject, run);
    return typeof result === "string" ? result : (result.latency ?? "there was no expected answer");
  }
  if (run.probe.failure !== null) return `the probes ended early: ${run.probe.failure}`;
  return run.probe.latency ?? "no probe was answered";
}

function operationOf(subject: string | null, { all, operations }: Run): OperationResult | string {
  if (subject === null) return all;
  const known = Object.keys(operations);
  const result = known.includes(subject) ? operations[subject] : undefined;
  return result ?? `the run had no ${subject}, only ${known.join(", ") || "nothing"}`;
}

const inUnit = (milliseconds: number, unit: Assertion["unit"]): number =>
  unit === "ms" || unit === "s" || unit === "us" ? milliseconds * PER_MILLISECOND[unit] : milliseconds;

/** Six digits: enough that a figure just beyond its limit does not read as equal to it. */
function written(value: number, unit: Assertion["unit"]): string {
  const number = Number(value.toPrecision(6));
  return unit === "" || unit === "/s" ? `${number}${unit}` : `${number} ${unit}`;
}
