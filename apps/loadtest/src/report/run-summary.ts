/** Summarizes a run over time and by operation. */
import type { AssertionResult } from "../measure/assertions.ts";
import type { Latency } from "../measure/histogram.ts";
import type { OperationResult } from "../measure/recorder.ts";
import type { Run } from "../measure/run.ts";
import { type Chart, seriesOf } from "./chart.ts";
import * as format from "./format.ts";
import type { Summary } from "./summary.ts";

const FIGURES = ["p50", "p90", "p95", "p99", "p99.9", "max"] as const;

/** A run, with the members that the command line adds. */
export interface RunReport extends Run {
  /** The shell command that repeats the run. */
  readonly command: string;
  readonly assertions: readonly AssertionResult[];
}

export function summarizeRun(run: RunReport): Summary {
  const { asked, all, operations, probe, driver, server, machine, countedSeconds } = run;
  const named = Object.entries(operations);
  const rows = named.length > 1 ? [...named, ["all", all] as const] : named;
  const probes = probe.latency?.count ?? 0;
  return {
    title: `Load test: ${asked.scenario}, ${format.formatLoad(asked)}, ${format.formatSeconds(asked.durationSeconds)}`,
    startedAt: run.startedAt,
    notices: noticesOf(run),
    conclusion: null,
    charts: chartsOf(run),
    header: ["", "rate/s", ...FIGURES.map((name) => `${name} ms`)],
    rows: [
      ...rows.map(([name, { perSecond, latency }]) => latencyRow(name, perSecond, latency)),
      latencyRow("probe", probes / Math.max(countedSeconds, 1), probe.latency),
    ],
    facts: [
      ["URL", asked.url],
      ["users", format.formatUsers(asked)],
      ...rows.map(([name, result]) => [name, describeStatuses(result)] as const),
      ["probe", `${format.formatCount(probes)} responses of /healthz`],
      ["driver", describeLoadGenerator(run)],
      ...(server === null ? [] : [["server", describeServer(server)] as const]),
      ["machine", machine],
    ],
    assertions: run.assertions,
    warnings: [driver.bottleneck, probe.failure && `The probes ended early: ${probe.failure}`].filter(
      (text) => text !== null,
    ),
    command: run.command,
  };
}

/** Returns a sentence if the run received no response, otherwise null. */
export function unansweredOf({ all }: Run): string | null {
  if (Object.keys(all.statuses).some((status) => status !== "none")) return null;
  if (all.sent === 0) return "No request was answered during the measurement.";
  return `No request was answered: ${format.formatStatuses(all)}.`;
}

function noticesOf(run: Run): readonly string[] {
  const { outcome, overloaded, countedSeconds, asked, all } = run;
  const notices: string[] = [];
  if (outcome === "interrupted") {
    const [counted, total] = [countedSeconds, asked.durationSeconds].map(format.formatSeconds);
    notices.push(`Interrupted after ${counted} of ${total}: the figures cover only this time.`);
  }
  const unanswered = unansweredOf(run);
  if (unanswered !== null) notices.push(unanswered);
  else if (overloaded && asked.load.kind === "open") {
    const offered = format.formatOffered(asked.load.ratePerSecond);
    notices.push(`Overloaded: ${format.formatRate(all.perSecond)} of ${offered}/s answered`);
  }
  return notices;
}

const latencyRow = (name: string, perSecond: number, latency: Latency | null) => ({
  cells: [name, format.formatRate(perSecond), ...FIGURES.map((figure) => format.formatMs(latency?.[figure]))],
});

const describeStatuses = (result: OperationResult): string =>
  format.formatStatuses(result) +
  (result.errors > 0 ? `; ${format.formatCount(result.errors)} unexpected` : "");

function describeLoadGenerator({ driver: { cpuShare, lateness } }: Run): string {
  const share = `${Math.round(100 * cpuShare)} % of one core`;
  return lateness === null ? share : `${share}; sent ${format.formatMs(lateness.p99)} ms late at p99`;
}

const describeServer = (server: NonNullable<Run["server"]>): string =>
  `kernel ${server.kernel}, ${server.workers} workers, ${format.formatLanes(server)}; ` +
  `estimated capacity ${format.formatRate(server.capacityPerSecond)}/s`;

function chartsOf({ asked, all, seconds }: Run): readonly Chart[] {
  const isOpen = asked.load.kind === "open";
  const overTime = seriesOf(seconds, ({ second }) => second);
  const charts: readonly Chart[] = [
    {
      title: "Latency over time",
      note: isOpen ? "From the intended start of each request, including waiting." : "From sending.",
      axis: "seconds",
      unit: "ms",
      series: [overTime("p50", "blue", ({ p50 }) => p50), overTime("p99", "amber", ({ p99 }) => p99)],
    },
    {
      title: "Throughput",
      note: isOpen ? "Intended starts and completed requests." : "Completed requests.",
      axis: "seconds",
      unit: "/s",
      series: [
        overTime("completed", "blue", ({ answered }) => answered),
        ...(isOpen ? [overTime("offered", "grey", ({ offered }) => offered, "dashed")] : []),
        ...(all.errors > 0 ? [overTime("errors", "red", ({ errors }) => errors)] : []),
      ],
    },
  ];
  const hasValues = ({ series }: Chart) => series.some(({ points }) => points.some(([, y]) => y !== null));
  return charts.filter(hasValues);
}
