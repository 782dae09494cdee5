/** A run and a capacity search as text for a terminal, with aligned figures. */
import type { CapacityReport, SearchProgress } from "../capacity/find-capacity.ts";
import type { AssertionResult, OperationResult, Run, RunReport } from "../measure/results.ts";
import * as format from "./format.ts";

/** Of the labels before texts. */
const LABEL_WIDTH = 13;
const LATENCIES = ["p50", "p90", "p95", "p99", "p99.9", "max"] as const;

export function describeRun(run: RunReport): string {
  const { asked, operations, all, command, assertions } = run;
  const named = Object.entries(operations);
  const rows = named.length > 1 ? [...named, ["all", all] as const] : named;
  const load = `${asked.scenario}, ${format.formatLoad(asked)}, ${format.formatSeconds(asked.durationSeconds)}`;
  const lines = [
    ...noticesOf(run).map((text) => format.wrap(text)),
    labelled("load", `${load}; ${format.formatUsers(asked)}`),
    labelled("url", asked.url),
    "",
    ...format.alignTable(
      [
        ["", "rate/s", ...LATENCIES.map((name) => `${name} ms`)],
        ...rows.map(([name, { perSecond, latency }]) => latencyRow(name, perSecond, latency)),
        latencyRow("probe", probeRate(run), run.probe.latency),
      ],
      7,
    ),
    "",
    ...rows.map(([name, result]) => labelled(name, describeStatuses(result))),
    labelled("probe", describeProbe(run)),
    "",
    labelled("driver", describeLoadGenerator(run)),
    ...(run.server ? [labelled("server", describeServer(run.server))] : []),
    "",
    ...repeatWith(command),
    ...(assertions.length > 0
      ? ["", ...assertions.map((each) => format.wrap(describeAssertion(each), 2))]
      : []),
    ...warningsOf(run).map((text) => `\n${labelled("WARNING", text)}`),
  ];
  return `${lines.join("\n")}\n`;
}

const labelled = (label: string, text: string): string =>
  `${label.padEnd(LABEL_WIDTH)}${format.wrap(text, LABEL_WIDTH)}`;

const repeatWith = (command: string): readonly string[] => ["Repeat with:", format.wrapCommand(command)];

export const describeAssertion = ({ assertion, passed, result }: AssertionResult): string =>
  `${passed ? "✓" : "✗"} ${assertion}: ${result}`;

/** A sentence if there was no response at all, otherwise null. */
export function unansweredOf({ all: { sent, statuses, connectionErrors } }: Run): string | null {
  if (Object.keys(statuses).some((status) => status !== "none")) return null;
  if (sent === 0) return "No request was answered during the measurement.";
  return `No request was answered: ${format.formatStatuses({ statuses, connectionErrors })}.`;
}

/** What restricts the validity of the figures. */
export function warningsOf({ driver, probe }: Run): readonly string[] {
  const warnings: string[] = [];
  if (driver.bottleneck !== null) {
    warnings.push(`The load generator was the bottleneck, not the service: ${driver.bottleneck}`);
  }
  if (probe.failure !== null) warnings.push(`The probes ended early: ${probe.failure}`);
  return warnings;
}

/** What readers must know first. */
export function noticesOf(run: Run): readonly string[] {
  const { outcome, overloaded, countedSeconds, asked, all } = run;
  const notices: string[] = [];
  if (outcome === "interrupted") {
    const [counted, total] = [countedSeconds, asked.durationSeconds].map(format.formatSeconds);
    notices.push(`Interrupted after ${counted} of ${total}: the figures cover only this time.`);
  }
  if (overloaded && asked.load.kind === "open" && unansweredOf(run) === null) {
    const offered = format.formatOffered(asked.load.ratePerSecond);
    const answered = format.formatDecimals(all.perSecond, all.perSecond < 10 ? 1 : 0);
    notices.push(`Overloaded: ${answered} of ${offered}/s answered`);
  }
  return notices;
}

export function describeLoadGenerator({ driver: { cpuShare, lateness } }: Run): string {
  const share = `${Math.round(100 * cpuShare)} % of one core`;
  return lateness === null ? share : `${share}; sent ${format.formatMs(lateness.p99)} ms late at p99`;
}

export const describeServer = (server: NonNullable<Run["server"]>): string =>
  `kernel ${server.kernel}, ${server.workers} workers, ${format.formatLanes(server)}; ` +
  `estimated capacity ${format.formatRate(server.capacityPerSecond)}/s`;

function latencyRow(name: string, perSecond: number | null, latency: OperationResult["latency"]): string[] {
  const rate = perSecond === null ? format.NO_VALUE : format.formatRate(perSecond);
  return [name, rate, ...LATENCIES.map((figure) => format.formatMs(latency?.[figure]))];
}

const describeStatuses = (result: OperationResult): string =>
  format.formatStatuses(result) +
  (result.errors > 0 ? `; ${format.formatCount(result.errors)} unexpected` : "");

const probeRate = ({ probe: { latency }, countedSeconds }: Run): number | null =>
  latency !== null && countedSeconds > 0 ? latency.count / countedSeconds : null;

const describeProbe = ({ probe: { latency } }: Run): string =>
  latency === null ? "no response" : `${format.formatCount(latency.count)} responses of /healthz`;

export function describeCapacity({ url, p99BoundMs, steps, sentence, command }: CapacityReport): string {
  const rows = steps.map((step) => [step.passed ? "passed" : "failed", ...format.formatStep(step)]);
  const header = ["", "offered/s", "achieved/s", "p50 ms", "p99 ms", "rejected", "errors", "attempts"];
  const lines = [
    `Capacity of logins with p99 within ${format.formatMs(p99BoundMs)} ms`,
    labelled("url", url),
    "",
    ...(rows.length > 0 ? [...format.alignTable([header, ...rows]), ""] : []),
    ...repeatWith(command),
    "",
    format.wrap(sentence),
  ];
  return `${lines.join("\n")}\n`;
}

/** One line: the step that is complete, and what remains. */
export function describeSearch({ done, remaining, completed }: SearchProgress): string {
  const total = done + remaining.steps;
  const left = `about ${formatDuration(remaining.seconds)} left`;
  if (completed === null) return `${total} steps expected, ${left}`;
  const isConfirmed = !("attempts" in completed) || completed.passed || completed.attempts > 1;
  // A failed rate is not complete before it was repeated.
  return `step ${isConfirmed ? done : done + 1} of about ${total}: ${describeStep(completed)}; ${left}`;
}

function describeStep(step: NonNullable<SearchProgress["completed"]>): string {
  if ("concurrency" in step) {
    const { concurrency, perSecond, p50 } = step;
    const clients = concurrency === 1 ? "1 client" : `${concurrency} clients`;
    return `${clients}, ${format.formatRate(perSecond)} logins/s, p50 ${format.formatMs(p50)} ms`;
  }
  const { ratePerSecond, sentPerSecond, achievedPerSecond, p99, passed, attempts } = step;
  const outcome = passed ? "passed" : attempts === 1 ? "failed, is repeated" : "failed twice";
  const answered = `${format.formatRate(achievedPerSecond)} of ${format.formatRate(sentPerSecond)}/s answered`;
  return `rate ${format.formatOffered(ratePerSecond)}/s, ${answered}, p99 ${format.formatMs(p99)} ms, ${outcome}`;
}

function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  return whole < 60 ? `${whole} s` : `${Math.floor(whole / 60)} min ${whole % 60} s`;
}
