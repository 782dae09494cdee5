/** The summary of a run: over time, by percentile, and by operation. */
import type { Latency, OperationResult, Run, RunReport } from "../measure/results.ts";
import { type Chart, type Colour, type Point, seriesOf } from "./chart.ts";
import {
  formatCount,
  formatLanes,
  formatLoad,
  formatMs,
  formatOffered,
  formatRate,
  formatSeconds,
  formatStatuses,
  formatUsers,
} from "./format.ts";
import type { Summary } from "./summary.ts";

const FIGURES = ["p50", "p90", "p95", "p99", "p99.9", "max"] as const;
const COLOURS: readonly Colour[] = ["blue", "amber", "green", "violet"];

export function summarizeRun(run: RunReport): Summary {
  const { asked, all, operations, probe, driver, server, machine, countedSeconds } = run;
  const named = Object.entries(operations);
  const rows = named.length > 1 ? [...named, ["all", all] as const] : named;
  const probes = probe.latency?.count ?? 0;
  return {
    title: `Load test: ${asked.scenario}, ${formatLoad(asked)}, ${formatSeconds(asked.durationSeconds)}`,
    startedAt: run.startedAt,
    notices: noticesOf(run),
    conclusion: null,
    tiles: tilesOf(run),
    charts: chartsOf(run),
    header: ["", "rate/s", ...FIGURES.map((name) => `${name} ms`)],
    rows: [
      ...rows.map(([name, { perSecond, latency }]) => latencyRow(name, perSecond, latency)),
      latencyRow("probe", probes / Math.max(countedSeconds, 1), probe.latency),
    ],
    facts: [
      ["URL", asked.url],
      ["users", formatUsers(asked)],
      ...rows.map(([name, result]) => [name, describeStatuses(result)] as const),
      ["probe", `${formatCount(probes)} responses of /healthz`],
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

/** A sentence if there was no response at all, otherwise null. */
export function unansweredOf({ all }: Run): string | null {
  if (Object.keys(all.statuses).some((status) => status !== "none")) return null;
  if (all.sent === 0) return "No request was answered during the measurement.";
  return `No request was answered: ${formatStatuses(all)}.`;
}

function noticesOf(run: Run): readonly string[] {
  const { outcome, overloaded, countedSeconds, asked, all } = run;
  const notices: string[] = [];
  if (outcome === "interrupted") {
    const [counted, total] = [countedSeconds, asked.durationSeconds].map(formatSeconds);
    notices.push(`Interrupted after ${counted} of ${total}: the figures cover only this time.`);
  }
  const unanswered = unansweredOf(run);
  if (unanswered !== null) notices.push(unanswered);
  else if (overloaded && asked.load.kind === "open") {
    const offered = formatOffered(asked.load.ratePerSecond);
    notices.push(`Overloaded: ${formatRate(all.perSecond)} of ${offered}/s answered`);
  }
  return notices;
}

const latencyRow = (name: string, perSecond: number, latency: Latency | null) => ({
  cells: [name, formatRate(perSecond), ...FIGURES.map((figure) => formatMs(latency?.[figure]))],
});

const describeStatuses = (result: OperationResult): string =>
  formatStatuses(result) + (result.errors > 0 ? `; ${formatCount(result.errors)} unexpected` : "");

function describeLoadGenerator({ driver: { cpuShare, lateness } }: Run): string {
  const share = `${Math.round(100 * cpuShare)} % of one core`;
  return lateness === null ? share : `${share}; sent ${formatMs(lateness.p99)} ms late at p99`;
}

const describeServer = (server: NonNullable<Run["server"]>): string =>
  `kernel ${server.kernel}, ${server.workers} workers, ${formatLanes(server)}; ` +
  `estimated capacity ${formatRate(server.capacityPerSecond)}/s`;

function tilesOf({ asked, all, operations, probe }: Run): Summary["tiles"] {
  // Logins if the scenario has any, otherwise the operation that gives the scenario its name, otherwise all operations.
  const { login, register } = operations;
  const { latency, perSecond } = login ?? register ?? all;
  const noun = login ? "logins" : register ? "registrations" : "requests";
  const { load } = asked;
  const rate = load.kind === "open" ? `of ${formatOffered(load.ratePerSecond)}/s offered` : formatLoad(asked);
  return [
    [`${noun} per second`, formatRate(perSecond), rate],
    [`${noun}, p50 ms`, formatMs(latency?.p50), "median"],
    [`${noun}, p99 ms`, formatMs(latency?.p99), `maximum ${formatMs(latency?.max)}`],
    ["errors", formatCount(all.errors), `of ${formatCount(all.sent)} requests`],
    ["probe, p99 ms", formatMs(probe.latency?.p99), "/healthz during the load"],
  ];
}

function chartsOf({ asked, all, operations, seconds }: Run): readonly Chart[] {
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
      title: "Latency by percentile",
      note: "Percentage of the responses within a latency; the end is the maximum.",
      axis: "percentile",
      unit: "ms",
      series: Object.entries(operations).map(([label, { latency }], index) => {
        const points = latency === null ? [] : percentilesOf(latency);
        return seriesOf(points, ([x]) => x)(label, COLOURS[index] ?? "grey", ([, y]) => y);
      }),
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
    {
      title: "Probe latency",
      note: "Of /healthz during the load, on a separate connection.",
      axis: "seconds",
      unit: "ms",
      series: [overTime("p99", "green", ({ probeP99 }) => probeP99)],
    },
  ];
  const hasValues = ({ series }: Chart) => series.some(({ points }) => points.some(([, y]) => y !== null));
  return charts.filter(hasValues);
}

/** The axis has no position for 100 %: the maximum of `count` responses is drawn where one in `count` is slower. */
const percentilesOf = ({ curve, count, max }: Latency): readonly Point[] => [
  ...curve.map(([percent, ms]): Point => [100 / (100 - percent), ms]).filter(([x]) => x < count),
  [count, max],
];
