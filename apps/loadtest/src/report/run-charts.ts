/** The plots of a run: over time, and the latency by percentile. */
import type { Latency, Run, Second } from "../measure/results.ts";
import { type Chart, type Colour, type Series, series } from "./chart.ts";

const COLOURS: readonly Colour[] = ["blue", "amber", "green", "violet", "red", "grey"];
/** Ratio of the largest to the smallest latency above which a linear axis would hide small values. */
const LOGARITHMIC_RATIO = 50;

export function chartsOf(run: Run): readonly Chart[] {
  const { seconds, all } = run;
  const isOpen = run.asked.load.kind === "open";
  const overTime = {
    axis: "seconds",
    isLogarithmic: false,
    x: seconds.map(({ second }) => second),
  } as const;
  const column = (name: keyof Second) => seconds.map((each) => each[name]);
  const charts: readonly Chart[] = [
    {
      ...overTime,
      title: "Latency over time",
      note: isOpen
        ? "From the intended start of each request, including waiting."
        : "From sending to the response.",
      unit: "ms",
      series: [
        series("p50", "blue", "line", column("p50")),
        series("p99", "amber", "line", column("p99")),
      ].filter(hasValues),
    },
    percentiles(run),
    {
      ...overTime,
      title: isOpen ? "Throughput and offered rate" : "Throughput",
      note: isOpen ? "Intended starts and completed requests per second." : "Completed requests per second.",
      unit: "/s",
      series: [
        series("completed", "blue", "area", column("answered")),
        ...(isOpen ? [series("offered", "grey", "dashed", column("offered"))] : []),
        ...(all.errors > 0 ? [series("errors", "red", "line", column("errors"))] : []),
      ],
    },
    {
      ...overTime,
      title: "Probe latency",
      note: "Measured during the load, on a separate connection.",
      unit: "ms",
      series: [series("p99 of /healthz", "green", "area", column("probeP99"))].filter(hasValues),
    },
  ];
  return charts.filter(({ x, series }) => x.length > 0 && series.length > 0);
}

const hasValues = ({ values }: Series): boolean => values.some((value) => value !== null);

/** With the axis of HdrHistogram's plots. */
function percentiles({ operations }: Run): Chart {
  const curves = Object.entries(operations).flatMap(([label, { latency }]) =>
    latency === null ? [] : [{ label, points: new Map(pointsOf(latency)) }],
  );
  const x = [...new Set(curves.flatMap(({ points }) => [...points.keys()]))].toSorted((a, b) => a - b);
  const positive = curves.flatMap(({ points }) => [...points.values()].filter((value) => value > 0));
  return {
    title: "Latency by percentile",
    note: "Percentage of the responses within a latency.",
    axis: "percentile",
    unit: "ms",
    isLogarithmic: Math.max(...positive) > LOGARITHMIC_RATIO * Math.min(...positive),
    x,
    series: curves.map(({ label, points }, index) => {
      const values = x.map((at) => points.get(at) ?? null);
      return series(label, COLOURS[index % COLOURS.length] ?? "grey", "line", values);
    }),
  };
}

/** The axis has no position for 100 %: the maximum of `count` responses is drawn where one in `count` is slower. */
function pointsOf({ curve, count }: Latency): readonly (readonly [x: number, milliseconds: number])[] {
  const inner = curve.map(([percent, ms]) => [100 / (100 - percent), ms] as const);
  const last = curve.at(-1);
  const drawn = inner.filter(([x]) => x < count);
  return last === undefined ? drawn : [...drawn, [Math.max(1, count), last[1]] as const];
}
