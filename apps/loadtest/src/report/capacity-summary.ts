/** Summarizes a capacity search: the rates, with a mark on each rate that failed. */
import type { CapacityReport, Step } from "../capacity/find-capacity.ts";
import { type Chart, seriesOf } from "./chart.ts";
import { formatCount, formatMs, formatOffered, formatRate } from "./format.ts";
import type { Summary } from "./summary.ts";

export function summarizeCapacity(report: CapacityReport): Summary {
  const { url, startedAt, machine, outcome, steps, p99BoundMs, bottleneck, command } = report;
  return {
    title: `Capacity of logins with p99 within ${formatMs(p99BoundMs)} ms`,
    startedAt,
    notices: outcome === "interrupted" ? ["Interrupted: the capacity is that of the rates until then."] : [],
    conclusion: sentenceOf(report),
    charts: steps.length > 0 ? chartsOf(report) : [],
    header: ["", "offered/s", "achieved/s", "p50 ms", "p99 ms", "rejected", "errors"],
    rows: steps.map((step) => ({ cells: cellsOf(step), failed: !step.passed })),
    facts: [
      ["URL", url],
      ["machine", machine],
    ],
    assertions: [],
    warnings: bottleneck === null ? [] : [bottleneck],
    command,
  };
}

function sentenceOf({ steps, p99BoundMs, ...found }: CapacityReport): string {
  const { loginsPerSecond, p99, cores, kernel, shareOfRaw } = found;
  if (steps.length === 0) return "Interrupted before the first rate was complete.";
  if (p99 === null) return `No rate had a p99 within ${formatMs(p99BoundMs)} ms.`;
  const result = `This machine handles ${formatRate(loginsPerSecond)} logins/s with p99 at ${formatMs(p99)} ms`;
  if (cores === null || shareOfRaw === null)
    return `${result}. Add --metrics for the rate per core and the kernel.`;
  return (
    `${result}: ${formatRate(loginsPerSecond / cores)} per core on ${cores} hash ${cores === 1 ? "worker" : "workers"} ` +
    `with the ${kernel} kernel, ${Math.round(100 * shareOfRaw)} % of the raw capacity of the hashing core.`
  );
}

const cellsOf = (step: Step): readonly string[] => [
  step.passed ? "✓ passed" : "✗ failed",
  formatOffered(step.ratePerSecond),
  formatRate(step.achievedPerSecond),
  ...[step.p50, step.p99].map(formatMs),
  ...[step.shed, step.errors].map(formatCount),
];

function chartsOf({ steps, p99BoundMs }: CapacityReport): readonly Chart[] {
  // The last run of each rate determines whether the rate passed.
  const last = [...new Map(steps.map((step) => [step.ratePerSecond, step])).values()];
  const ascending = last.sort((a, b) => a.ratePerSecond - b.ratePerSecond);
  const rateOf = ({ ratePerSecond }: Step): number => ratePerSecond;
  const byRate = seriesOf(ascending, rateOf);
  const failed = ascending.filter(({ passed }) => !passed);
  const byFailedRate = seriesOf(failed, rateOf);
  return [
    {
      title: "Throughput by offered rate",
      note: "Below the dashed line, the service handles less than the offered rate.",
      axis: "rate",
      unit: "/s",
      series: [
        byRate("offered", "grey", ({ sentPerSecond }) => sentPerSecond, "dashed"),
        byRate("achieved", "blue", ({ achievedPerSecond }) => achievedPerSecond),
        byFailedRate("failed", "red", ({ achievedPerSecond }) => achievedPerSecond, "dots"),
      ],
    },
    {
      title: "Latency by offered rate",
      note: "From the intended start of each login; the dashed line is the bound on p99.",
      axis: "rate",
      unit: "ms",
      series: [
        byRate("bound", "grey", () => p99BoundMs, "dashed"),
        byRate("p50", "blue", ({ p50 }) => p50),
        byRate("p99", "amber", ({ p99 }) => p99),
        byFailedRate("failed", "red", ({ p99 }) => p99, "dots"),
      ],
    },
  ];
}
