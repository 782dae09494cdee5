/** The plots of a run: over its seconds, and its latency as a percentile curve. */
import type { Latency, Run, Second } from "../measure/results.ts";
import type { Chart, Colour, Series } from "./chart.ts";

const COLOURS: readonly Colour[] = ["blue", "amber", "green", "violet", "red", "grey"];
/** Where the largest latency of a plot is so many times the smallest, a linear axis would hide the small ones. */
const LOGARITHMIC_FROM = 50;

export function chartsOf(run: Run): readonly Chart[] {
  const charts = [latencyOverTime(run), percentiles(run), throughput(run), probeOverTime(run)];
  return charts.filter(({ x, series }) => x.length > 0 && series.length > 0);
}

const overTime = { axis: "seconds", isLogarithmic: false } as const;
const secondsOf = ({ seconds }: Run): readonly number[] => seconds.map(({ second }) => second);
const column = ({ seconds }: Run, name: keyof Second): Series["values"] => seconds.map((each) => each[name]);
/** Without a single value there is nothing to draw. */
const hasValues = ({ values }: Series): boolean => values.some((value) => value !== null);

function latencyOverTime(run: Run): Chart {
  const { kind } = run.asked.load;
  const series: readonly Series[] = [
    { label: "p50", colour: "blue", style: "line", values: column(run, "p50") },
    { label: "p99", colour: "amber", style: "line", values: column(run, "p99") },
  ];
  return {
    ...overTime,
    title: "Latency over time",
    note:
      kind === "open"
        ? "From the intended start of each request, so waiting counts too."
        : "From sending to the answer.",
    unit: "ms",
    x: secondsOf(run),
    series: series.filter(hasValues),
  };
}

function throughput(run: Run): Chart {
  const isOpen = run.asked.load.kind === "open";
  const answered: Series = {
    label: "answered",
    colour: "blue",
    style: "area",
    values: column(run, "answered"),
  };
  const offered: Series = {
    label: "offered",
    colour: "grey",
    style: "dashed",
    values: column(run, "offered"),
  };
  const errors: Series = { label: "errors", colour: "red", style: "line", values: column(run, "errors") };
  return {
    ...overTime,
    title: isOpen ? "Throughput against offered rate" : "Throughput",
    note: isOpen
      ? "Requests due in each second, and answers that came in it."
      : "Answers that came in each second.",
    unit: "/s",
    x: secondsOf(run),
    series: [answered, ...(isOpen ? [offered] : []), ...(run.all.errors > 0 ? [errors] : [])],
  };
}

function probeOverTime(run: Run): Chart {
  const values = column(run, "probeP99");
  const series: Series = { label: "p99 of /healthz", colour: "green", style: "area", values };
  return {
    ...overTime,
    title: "Probe latency",
    note: "Beside the load, on a connection of its own.",
    unit: "ms",
    x: secondsOf(run),
    series: [series].filter(hasValues),
  };
}

/** The axis of HdrHistogram's plots. */
function percentiles({ operations }: Run): Chart {
  const curves = Object.entries(operations).flatMap(([label, { latency }]) =>
    latency === null ? [] : [{ label, points: new Map(pointsOf(latency)) }],
  );
  const x = [...new Set(curves.flatMap(({ points }) => [...points.keys()]))].toSorted((a, b) => a - b);
  const series = curves.map(
    ({ label, points }, index): Series => ({
      label,
      colour: COLOURS[index % COLOURS.length] ?? "grey",
      style: "line",
      values: x.map((at) => points.get(at) ?? null),
    }),
  );
  const positive = curves.flatMap(({ points }) => [...points.values()].filter((value) => value > 0));
  return {
    title: "Latency by percentile",
    note: "How many of the answers came within how long.",
    axis: "percentile",
    unit: "ms",
    isLogarithmic: Math.max(...positive) > LOGARITHMIC_FROM * Math.min(...positive),
    x,
    series,
  };
}

/** All of `count` answers are drawn where one in `count` is slower: the curve has no place for 100 %. */
function pointsOf({ curve, count }: Latency): readonly (readonly [x: number, milliseconds: number])[] {
  const inner = curve.map(([percent, ms]) => [100 / (100 - percent), ms] as const);
  const last = curve.at(-1);
  const drawn = inner.filter(([x]) => x < count);
  return last === undefined ? drawn : [...drawn, [Math.max(1, count), last[1]] as const];
}
