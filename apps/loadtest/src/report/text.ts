/** A run and a capacity search as a person reads them on a terminal: what was asked, then what came, figures aligned. */
import type { CapacityReport, OperationResult, Run } from "../measure/results.ts";
import * as format from "./format.ts";

export function describeRun(run: Run): string {
  const { asked, operations, all } = run;
  const rows = Object.entries(operations);
  const lines = [
    `asked   ${asked.scenario}, ${format.formatLoad(asked)}, ${format.formatSeconds(asked.durationSeconds)}; ${format.formatUsers(asked)}`,
    `at      ${asked.url}`,
    "",
    ...align([
      ["", "rate/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "statuses"],
      ...(rows.length > 1 ? [...rows, ["all", all] as const] : rows).map(operationRow),
      probeRow(run),
    ]),
    "",
    `driver  ${describeDriver(run)}`,
  ];
  if (run.server) lines.push(`server  ${describeServer(run.server)}`);
  return `${[...interruption(run), ...lines, ...warningsOf(run).map((text) => `WARNING ${text}`)].join("\n")}\n`;
}

/** What a reader must know before believing a figure. */
export function warningsOf({ driver, probe }: Run): readonly string[] {
  const warnings: string[] = [];
  if (driver.bottleneck !== null) {
    warnings.push(`The load tester was the bottleneck, not the service: ${driver.bottleneck}`);
  }
  if (probe.failure !== null) warnings.push(`The probes ended early: ${probe.failure}`);
  return warnings;
}

export const interruption = ({ outcome, countedSeconds, asked }: Run): readonly string[] =>
  outcome === "complete"
    ? []
    : [
        `Interrupted after ${format.formatSeconds(countedSeconds)} of ${format.formatSeconds(asked.durationSeconds)}: the figures are those of the part that ran.`,
      ];

export function describeDriver({ driver: { cpuShare, lateness } }: Run): string {
  const share = `${Math.round(100 * cpuShare)} % of one core`;
  return lateness === null ? share : `${share}; sent ${format.formatMs(lateness.p99)} ms late at p99`;
}

export function describeServer(server: NonNullable<Run["server"]>): string {
  const { kernel, workers, lanes, lanesBusy, queueLength, capacityPerSecond } = server;
  const waiting = `${lanesBusy} of ${lanes} lanes busy, ${format.formatCount(queueLength)} waiting`;
  return `kernel ${kernel}, ${workers} workers, ${waiting}; says it can check ${format.formatRate(capacityPerSecond)}/s`;
}

function operationRow([name, { perSecond, latency, statuses, errors }]: readonly [string, OperationResult]) {
  const wrong = errors > 0 ? `; ${format.formatCount(errors)} unexpected` : "";
  return [
    name,
    format.formatRate(perSecond),
    ...[latency?.p50, latency?.p95, latency?.p99, latency?.max].map((ms) => format.formatMs(ms ?? null)),
    format.formatStatuses(statuses) + wrong,
  ];
}

function probeRow({ probe: { latency }, countedSeconds }: Run): readonly string[] {
  if (latency === null) return ["probe", ...Array<string>(5).fill(format.NOTHING), "no answer"];
  const { count, p50, p95, p99, max } = latency;
  const perSecond = countedSeconds > 0 ? format.formatRate(count / countedSeconds) : format.NOTHING;
  const answers = `${format.formatCount(count)} answers of /healthz`;
  return ["probe", perSecond, ...[p50, p95, p99, max].map(format.formatMs), answers];
}

export function describeCapacity(report: CapacityReport): string {
  const { url, p99BoundMs, steps, sentence } = report;
  const rows = steps.map((step) => [
    step.passed ? "held" : "not held",
    format.formatAsked(step.ratePerSecond),
    format.formatRate(step.achievedPerSecond),
    format.formatMs(step.p50),
    format.formatMs(step.p99),
    format.formatCount(step.shed),
    format.formatCount(step.errors),
  ]);
  const lines = [
    `Logins at rising rates, p99 within ${format.formatMs(p99BoundMs)} ms`,
    `at ${url}`,
    "",
    ...align([["", "asked/s", "answered/s", "p50 ms", "p99 ms", "shed", "errors"], ...rows]),
    "",
    sentence,
  ];
  return `${lines.join("\n")}\n`;
}

/** The first column to the left, figures to the right, a last column of words as it is. */
function align(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const isWords = rows[0]?.at(-1) === "statuses";
  return rows.map((row) =>
    row
      .map((cell, column) => {
        if (column === 0) return cell.padEnd(widths[0] ?? 0);
        const isLastWord = isWords && column === row.length - 1;
        return isLastWord ? ` ${cell}` : cell.padStart(Math.max(8, widths[column] ?? 0));
      })
      .join("  ")
      .trimEnd(),
  );
}
