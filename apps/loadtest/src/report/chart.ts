/**
 * Plots as SVG without a script. Positions are percentages and texts keep their size, so that a plot fits every width; there are
 * few enough labels for a phone. Colours are CSS classes, which follow the colour scheme.
 */
import { type Html, html } from "./html.ts";

export type Colour = "blue" | "amber" | "red" | "green" | "violet" | "grey";

/** Null leaves a gap. */
export type Point = readonly [x: number, y: number | null];

export interface Series {
  readonly label: string;
  readonly colour: Colour;
  /** `dashed`: a reference rather than a measurement; `dots`: marks points of other series. */
  readonly style: "line" | "dashed" | "dots";
  /** Ascending by x. */
  readonly points: readonly Point[];
}

export interface Chart {
  readonly title: string;
  readonly note: string;
  /** `percentile`: x is 1 / (1 - percentile), on an axis that gives each additional nine the same space. */
  readonly axis: "seconds" | "rate" | "percentile";
  readonly unit: "ms" | "/s";
  readonly series: readonly Series[];
}

/** Returns a function that creates a series with one point per row. */
export const seriesOf =
  <Row>(rows: readonly Row[], x: (row: Row) => number) =>
  (
    label: string,
    colour: Colour,
    y: (row: Row) => number | null,
    style: Series["style"] = "line",
  ): Series => ({
    label,
    colour,
    style,
    points: rows.map((row) => [x(row), y(row)]),
  });

interface Scale {
  readonly ticks: readonly number[];
  /** Percentage of the axis. */
  readonly at: (value: number) => number;
}

const MAX_TICKS = 6;
/** 50, 90, 99, 99.9 and 99.99 %: on a phone, labels of further nines would overlap. */
const PERCENTILES = [2, 10, 100, 1000, 10_000];
/** Ratio of the largest to the smallest latency above which a linear axis would hide small values. */
const LOGARITHMIC_RATIO = 50;

const format = (value: number): string =>
  value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });
const LABELS: Readonly<Record<Chart["axis"], (x: number) => string>> = {
  seconds: (x) => `${format(x)} s`,
  rate: (x) => `${format(x)}/s`,
  percentile: (x) => `${Number((100 - 100 / x).toFixed(3))} %`,
};

export function renderChart({ title, note, axis, unit, series }: Chart): Html {
  const points = series.flatMap((each) => each.points);
  const x = horizontalScale(points, axis);
  const y = verticalScale(points, axis);
  const position = ([at, value]: readonly [number, number]) => [x.at(at), 100 - y.at(value)] as const;
  const pathOf = ({ colour, style, points: all }: Series): Html => {
    const commands = all.map(([at, value], index) => {
      if (value === null) return "";
      const isFirst = (all[index - 1]?.[1] ?? null) === null;
      const place = position([at, value]).map((each) => each.toFixed(2));
      return isFirst ? `M${place}h0` : `L${place}`;
    });
    return html`<path class="${colour} ${style}" d="${commands.join("")}"/>`;
  };
  const circlesOf = ({ label, colour, style, points: all }: Series): readonly Html[] =>
    all.flatMap(([at, value]) => {
      if (value === null || style === "dashed") return [];
      const [left, top] = position([at, value]);
      const marked = axis === "rate" || style === "dots" ? "marked" : "";
      return html`<circle class="${colour} ${marked}" cx="${left.toFixed(2)}%" cy="${top.toFixed(2)}%" r="3.5"><title>${label} at ${LABELS[axis](at)}: ${format(value)} ${unit}</title></circle>
`;
    });
  return html`<figure>
<figcaption>${title}, ${unit}<small>${note}</small></figcaption>
<svg class="plot" role="img" aria-label="${title}">
<svg x="12%" y="8" width="79%" height="200">
${y.ticks.map(
  (
    tick,
  ) => html`<line x2="100%" y1="${100 - y.at(tick)}%" y2="${100 - y.at(tick)}%"/><text class="y" x="-6" y="${100 - y.at(tick)}%">${format(tick)}</text>
`,
)}${x.ticks.map(
  (
    tick,
  ) => html`<line x1="${x.at(tick)}%" x2="${x.at(tick)}%" y2="100%"/><text x="${x.at(tick)}%" y="220">${LABELS[axis](tick)}</text>
`,
)}<svg viewBox="0 0 100 100" preserveAspectRatio="none">${series.filter(({ style }) => style !== "dots").map(pathOf)}</svg>
${series.flatMap(circlesOf)}</svg>
</svg>
<ul class="legend">${series.map(({ label, colour, style }) => html`<li class="${colour} ${style}">${label}</li>`)}</ul>
</figure>
`;
}

function horizontalScale(points: readonly Point[], axis: Chart["axis"]): Scale {
  const values = points.map(([at]) => at);
  const [first, last] = [Math.min(...values), Math.max(...values)];
  if (axis !== "percentile") return linear(first, last);
  return logarithmic(1, Math.max(10, Math.min(last, 10_000)), PERCENTILES);
}

function verticalScale(points: readonly Point[], axis: Chart["axis"]): Scale {
  const values = points.flatMap(([, value]) => value ?? []);
  const [smallest, largest] = [Math.min(...values.filter((value) => value > 0)), Math.max(...values)];
  if (axis === "percentile" && largest > LOGARITHMIC_RATIO * smallest) {
    const powers = [Math.floor(Math.log10(smallest)), Math.ceil(Math.log10(largest))] as const;
    const ticks = Array.from({ length: powers[1] - powers[0] + 1 }, (_, index) => 10 ** (powers[0] + index));
    return logarithmic(10 ** powers[0], 10 ** powers[1], ticks);
  }
  const step = tickStep(largest || 1);
  return linear(0, step * Math.ceil((largest || 1) / step));
}

function linear(from: number, to: number): Scale {
  const span = to - from || 1;
  const step = tickStep(span);
  const first = Math.ceil(from / step);
  const length = 1 + Math.floor((from + span) / step + 1e-9) - first;
  const ticks = Array.from({ length }, (_, index) => (first + index) * step);
  return { ticks, at: (value) => (100 * (value - from)) / span };
}

/** 1, 2 or 5 times a power of ten. */
function tickStep(span: number): number {
  const power = 10 ** Math.floor(Math.log10(span / MAX_TICKS));
  return power * ([1, 2, 5].find((factor) => factor * power >= span / MAX_TICKS) ?? 10);
}

/** Larger values are at its end. */
function logarithmic(from: number, to: number, ticks: readonly number[]): Scale {
  const span = Math.log(to / from);
  return {
    ticks: ticks.filter((tick) => tick <= to),
    at: (value) => (100 * Math.log(Math.max(from, Math.min(value, to)) / from)) / span,
  };
}
