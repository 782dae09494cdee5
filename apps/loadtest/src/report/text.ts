/** A run and a capacity search as text for a terminal, with aligned figures. */
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { OperationResult, Run } from "../measure/results.ts";
import * as format from "./format.ts";

export function describeRun(run: Run): string {
  const { asked, operations, all } = run;
  const rows = Object.entries(operations);
  const lines = [
    ...interruptionOf(run),
    `load    ${asked.scenario}, ${format.formatLoad(asked)}, ${format.formatSeconds(asked.durationSeconds)}; ${format.formatUsers(asked)}`,
    `url     ${asked.url}`,
    "",
    ...withLastColumn([
      ["", "rate/s", "p50 ms", "p95 ms", "p99 ms", "max ms", "statuses"],
      ...(rows.length > 1 ? [...rows, ["all", all] as const] : rows).map(operationRow),
      probeRow(run),
    ]),
    "",
    `driver  ${describeLoadGenerator(run)}`,
    ...(run.server ? [`server  ${describeServer(run.server)}`] : []),
    ...warningsOf(run).map((text) => `WARNING ${text}`),
  ];
  return `${lines.join("\n")}\n`;
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

export function interruptionOf({ outcome, countedSeconds, asked }: Run): readonly string[] {
  if (outcome === "complete") return [];
  const [counted, total] = [countedSeconds, asked.durationSeconds].map(format.formatSeconds);
  return [`Interrupted after ${counted} of ${total}: the figures cover only this time.`];
}

export function describeLoadGenerator({ driver: { cpuShare, lateness } }: Run): string {
  const share = `${Math.round(100 * cpuShare)} % of one core`;
  return lateness === null ? share : `${share}; sent ${format.formatMs(lateness.p99)} ms late at p99`;
}

export const describeServer = (server: NonNullable<Run["server"]>): string =>
  `kernel ${server.kernel}, ${server.workers} workers, ${format.formatLanes(server)}; ` +
  `estimated capacity ${format.formatRate(server.capacityPerSecond)}/s`;

function operationRow([name, result]: readonly [string, OperationResult]): readonly string[] {
  const { perSecond, latency, statuses, errors } = result;
  const unexpected = errors > 0 ? `; ${format.formatCount(errors)} unexpected` : "";
  return [
    name,
    format.formatRate(perSecond),
    ...[latency?.p50, latency?.p95, latency?.p99, latency?.max].map(format.formatMs),
    format.formatStatuses(statuses) + unexpected,
  ];
}

function probeRow({ probe: { latency }, countedSeconds }: Run): readonly string[] {
  if (latency === null) return ["probe", ...Array<string>(5).fill(format.NO_VALUE), "no response"];
  const { count, p50, p95, p99, max } = latency;
  const perSecond = countedSeconds > 0 ? format.formatRate(count / countedSeconds) : format.NO_VALUE;
  const responses = `${format.formatCount(count)} responses of /healthz`;
  return ["probe", perSecond, ...[p50, p95, p99, max].map(format.formatMs), responses];
}

export function describeCapacity({ url, p99BoundMs, steps, sentence }: CapacityReport): string {
  const rows = steps.map((step) => [
    step.passed ? "passed" : "failed",
    format.formatOffered(step.ratePerSecond),
    format.formatRate(step.achievedPerSecond),
    ...[step.p50, step.p99].map(format.formatMs),
    ...[step.shed, step.errors].map(format.formatCount),
  ]);
  const lines = [
    `Capacity of logins with p99 within ${format.formatMs(p99BoundMs)} ms`,
    `url     ${url}`,
    "",
    ...format.alignTable([["", "offered/s", "achieved/s", "p50 ms", "p99 ms", "shed", "errors"], ...rows]),
    "",
    sentence,
  ];
  return `${lines.join("\n")}\n`;
}

/** The last column contains text and is not aligned. */
function withLastColumn(rows: readonly (readonly string[])[]): readonly string[] {
  const aligned = format.alignTable(rows.map((row) => row.slice(0, -1)));
  return aligned.map((line, index) => `${line}   ${rows[index]?.at(-1) ?? ""}`);
}
