/**
 * The page's script: draws all charts, and redraws them when their size or the colour scheme changes. Colours are functions,
 * so that every redraw uses the current colour scheme.
 */
import uPlot from "uplot";
import { CHARTS_ID, type Chart, type Series } from "./chart.ts";

/** The DOM API that this script uses. TypeScript's own declarations would replace Bun's in the whole project. */
interface PageElement {
  readonly clientWidth: number;
  readonly dataset: Readonly<Record<string, string | undefined>>;
}

declare const document: {
  readonly documentElement: PageElement;
  getElementById(id: string): { readonly textContent: string | null } | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
};
declare const getComputedStyle: (element: PageElement) => { getPropertyValue(name: string): string };
declare const matchMedia: (query: string) => { addEventListener(type: "change", run: () => void): void };
declare const ResizeObserver: new (run: () => void) => { observe(element: PageElement): void };

const PLOT_HEIGHT = 230;
const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
/** Lines with more points do not mark them. */
const MAX_MARKED_POINTS = 24;

const format = (value: number): string => value.toLocaleString("en-US", { maximumSignificantDigits: 3 });

function optionsOf(chart: Chart, width: number): uPlot.Options {
  const { axis, series } = chart;
  const markerOf = (_: uPlot, index: number) => `var(--${series[index - 1]?.colour ?? "grey"})`;
  return {
    width,
    height: PLOT_HEIGHT,
    padding: [8, 22, 0, 0],
    scales: { x: xScale(chart), y: yScale(chart) },
    axes: [
      { ...lines(), ...xTicks(chart), space: axis === "percentile" ? 40 : 56, size: 26 },
      { ...lines(), ...yTicks(chart), size: 62, space: 36 },
    ],
    series: [
      { label: "", value: (_, x) => (x === null ? "" : xLabel(x, axis)) },
      ...series.map((each) => lineOf(each, chart)),
    ],
    legend: { markers: { width: 2, stroke: markerOf } },
    cursor: axis === "seconds" ? { sync: { key: "seconds" }, drag: { x: false } } : { drag: { x: false } },
  };
}

const lines = (): uPlot.Axis => ({
  font: FONT,
  stroke: () => colourOf("quiet"),
  grid: { stroke: () => colourOf("line"), width: 1 },
  ticks: { show: false },
});

function lineOf({ label, colour, style }: Series, { x, unit, axis }: Chart): uPlot.Series {
  return {
    label,
    stroke: () => colourOf(colour),
    width: 2,
    // Curves of different operations have points at different positions.
    spanGaps: axis === "percentile",
    points: { show: style !== "dashed" && axis !== "percentile" && x.length <= MAX_MARKED_POINTS, size: 6 },
    value: (_, y) => (y === null ? "–" : `${format(y)}${unit === "ms" ? " ms" : unit}`),
    ...(style === "area" && { fill: () => `${colourOf(colour)}1f` }),
    ...(style === "dashed" && { dash: [5, 5], width: 1.5 }),
  };
}

function xScale({ axis, x }: Chart): uPlot.Scale {
  const first = x[0] ?? 0;
  const last = x.at(-1) ?? 1;
  if (axis === "clients") return { time: false, distr: 3, log: 2, range: [first, Math.max(last, 2 * first)] };
  if (axis === "percentile") return { time: false, distr: 3, log: 10, range: [1, Math.max(10, last)] };
  return { time: false, range: [first, last > first ? last : first + 1] };
}

function yScale({ isLogarithmic, series }: Chart): uPlot.Scale {
  if (isLogarithmic) return { distr: 3, log: 10 };
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  return { range: [0, 1.08 * Math.max(...values) || 1] };
}

function xTicks({ axis, x }: Chart): uPlot.Axis {
  const values: uPlot.Axis.Values = (_, splits) => splits.map((at) => xLabel(at, axis));
  if (axis === "clients") return { values, filter: keepAll, splits: () => [...x] };
  if (axis !== "percentile") return { values };
  const nines = [2, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
  return { values, filter: keepAll, splits: () => nines.filter((at) => at <= (x.at(-1) ?? 1)) };
}

function xLabel(value: number, axis: Chart["axis"]): string {
  if (axis === "seconds") return `${format(value)} s`;
  if (axis === "rate") return `${format(value)}/s`;
  if (axis === "clients") return String(value);
  return `${Number((100 - 100 / value).toPrecision(value > 1000 ? 6 : 4))} %`;
}

function yTicks({ isLogarithmic, unit }: Chart): uPlot.Axis {
  const values: uPlot.Axis.Values = (_, splits) =>
    splits.map((at) => `${format(at)}${unit === "ms" ? " ms" : unit}`);
  return isLogarithmic
    ? { values, filter: keepAll, splits: (_, _axis, min, max) => powersOfTen(min, max) }
    : { values };
}

/** Prevents uPlot from omitting labels of a logarithmic axis. */
const keepAll = (_: uPlot, splits: number[]): number[] => splits;

function powersOfTen(min: number, max: number): number[] {
  const first = Math.ceil(Math.log10(min));
  const last = Math.floor(Math.log10(max));
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => 10 ** (first + index));
}

/** In the current colour scheme, `#rrggbb`. */
const colourOf = (variable: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${variable}`).trim();

/** Not validated: the same release has rendered the page and its charts. */
const charts: readonly Chart[] = JSON.parse(document.getElementById(CHARTS_ID)?.textContent ?? "[]");
for (const element of document.querySelectorAll(".plot")) {
  const chart = charts[Number(element.dataset.chart)];
  if (chart === undefined) continue;
  const data: uPlot.AlignedData = [[...chart.x], ...chart.series.map(({ values }) => [...values])];
  const plot = new uPlot(optionsOf(chart, element.clientWidth), data, element);
  const resize = () => plot.setSize({ width: element.clientWidth, height: PLOT_HEIGHT });
  new ResizeObserver(resize).observe(element);
  // Printing changes the colour scheme, too.
  for (const query of ["(prefers-color-scheme: dark)", "print"])
    matchMedia(query).addEventListener("change", () => plot.redraw(false));
}
