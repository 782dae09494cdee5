/** The plots of a capacity search: over the rates that were tried, and over the clients of the closed loop. */
import type { CapacityReport } from "../measure/results.ts";
import type { Chart } from "./chart.ts";

export function chartsOf({ steps, curve, p99BoundMs }: CapacityReport): readonly Chart[] {
  const rising = steps.toSorted((a, b) => a.ratePerSecond - b.ratePerSecond);
  const rates = rising.map(({ ratePerSecond }) => ratePerSecond);
  const charts: readonly Chart[] = [
    {
      title: "Throughput against offered rate",
      note: "Where the line leaves the dashes, the service answers less than it is asked.",
      axis: "rate",
      unit: "/s",
      isLogarithmic: false,
      x: rates,
      series: [
        {
          label: "answered",
          colour: "blue",
          style: "area",
          values: rising.map(({ achievedPerSecond }) => achievedPerSecond),
        },
        { label: "offered", colour: "grey", style: "dashed", values: rates },
      ],
    },
    {
      title: "Latency against offered rate",
      note: "From the intended start of each login; the dashes are the bound on p99.",
      axis: "rate",
      unit: "ms",
      isLogarithmic: false,
      x: rates,
      series: [
        { label: "p50", colour: "blue", style: "line", values: rising.map(({ p50 }) => p50) },
        { label: "p99", colour: "amber", style: "line", values: rising.map(({ p99 }) => p99) },
        { label: "bound", colour: "red", style: "dashed", values: rates.map(() => p99BoundMs) },
      ],
    },
    {
      title: "Throughput by clients",
      note: "Clients that each log in again as soon as they are answered.",
      axis: "clients",
      unit: "/s",
      isLogarithmic: false,
      x: curve.map(({ concurrency }) => concurrency),
      series: [
        {
          label: "logins",
          colour: "blue",
          style: "area",
          values: curve.map(({ perSecond }) => perSecond),
        },
      ],
    },
    {
      title: "Latency by clients",
      note: "The median of the same closed loop.",
      axis: "clients",
      unit: "ms",
      isLogarithmic: false,
      x: curve.map(({ concurrency }) => concurrency),
      series: [{ label: "p50", colour: "violet", style: "line", values: curve.map(({ p50 }) => p50) }],
    },
  ];
  return charts.filter(({ x }) => x.length > 0);
}
