/** The plots of a capacity search: over the rates of its steps, and over the clients of the closed loop. */
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { CurvePoint } from "../capacity/service-curve.ts";
import { type Chart, series } from "./chart.ts";

export function chartsOf({ steps, curve, p99BoundMs }: CapacityReport): readonly Chart[] {
  const ascending = steps.toSorted((a, b) => a.ratePerSecond - b.ratePerSecond);
  const step = (name: "achievedPerSecond" | "p50" | "p99") => ascending.map((each) => each[name]);
  const point = (name: keyof CurvePoint) => curve.map((each) => each[name]);
  const rates = ascending.map(({ ratePerSecond }) => ratePerSecond);
  const byRate = { axis: "rate", isLogarithmic: false, x: rates } as const;
  const byClients = { axis: "clients", isLogarithmic: false, x: point("concurrency") } as const;
  const charts: readonly Chart[] = [
    {
      ...byRate,
      title: "Throughput by offered rate",
      note: "Below the dashed line, the service handles less than the offered rate.",
      unit: "/s",
      series: [
        series("achieved", "blue", "area", step("achievedPerSecond")),
        series("offered", "grey", "dashed", rates),
      ],
    },
    {
      ...byRate,
      title: "Latency by offered rate",
      note: "From the intended start of each login; the dashed line is the bound on p99.",
      unit: "ms",
      series: [
        series("p50", "blue", "line", step("p50")),
        series("p99", "amber", "line", step("p99")),
        series("bound", "red", "dashed", Array<number>(rates.length).fill(p99BoundMs)),
      ],
    },
    {
      ...byClients,
      title: "Throughput by clients",
      note: "Closed loop: each client logs in again when its login is complete.",
      unit: "/s",
      series: [series("logins", "blue", "area", point("perSecond"))],
    },
    {
      ...byClients,
      title: "Latency by clients",
      note: "Median of the same closed loop.",
      unit: "ms",
      series: [series("p50", "violet", "line", point("p50"))],
    },
  ];
  return charts.filter(({ x }) => x.length > 0);
}
