/**
 * Renders charts as SVG without a script. A chart fits every width: positions are percentages, text has a fixed size, and the
 * labels are few enough for a phone. Colours are CSS classes that follow the system's colour scheme.
 */
import { type Html, html } from "./html.ts";

type Colour = "blue" | "amber" | "red" | "grey";

/** `dashed`: a reference value, not a measurement. `dots`: marks on points of another series. */
type Style = "line" | "dashed" | "dots";

export interface Series {
  readonly label: string;
  readonly colour: Colour;
  readonly style: Style;
  /** In ascending order of `x`. If `y` is null, the line has a gap. */
  readonly points: readonly (readonly [x: number, y: number | null])[];
}

export interface Chart {
  readonly title: string;
  readonly note: string;
  readonly axis: "seconds" | "rate";
  readonly unit: "ms" | "/s";
  readonly series: readonly Series[];
}

/** Returns a function that creates a series with one point per row. */
export const seriesOf =
  <Row>(rows: readonly Row[], x: (row: Row) => number) =>
  (label: string, colour: Colour, y: (row: Row) => number | null, style: Style = "line"): Series => ({
    label,
    colour,
    style,
    points: rows.map((row) => [x(row), y(row)]),
  });

const MAX_TICKS = 6;

const format = (value: number): string =>
  value.toLocaleString("en-US", { notation: "compact", maximumSignificantDigits: 3 });

export function renderChart({ title, note, axis, unit, series }: Chart): Html {
  const points = series.flatMap((each) => each.points);
  const all = points.map(([at]) => at);
  const x = createScale(Math.min(...all), Math.max(...all));
  const largest = Math.max(...points.map(([, value]) => value ?? 0)) || 1;
  const step = tickStep(largest);
  const y = createScale(0, step * Math.ceil(largest / step));
  const labelOf = (at: number) => format(at) + (axis === "rate" ? "/s" : " s");
  const top = (value: number): number => 100 - y.at(value);
  const levels = y.ticks.map(
    (tick) =>
      html`<line x2="100%" y1="${top(tick)}%" y2="${top(tick)}%"/><text class="y" x="-6" y="${top(tick)}%">${format(tick)}</text>`,
  );
  const places = x.ticks.map(
    (tick) =>
      html`<line x1="${x.at(tick)}%" x2="${x.at(tick)}%" y2="100%"/><text x="${x.at(tick)}%" y="220">${labelOf(tick)}</text>`,
  );
  const pathOf = ({ colour, style, points: all }: Series): Html => {
    const commands = all.map(([at, value], index) => {
      if (value === null) return "";
      const isFirst = (all[index - 1]?.[1] ?? null) === null;
      const place = `${x.at(at).toFixed(2)},${top(value).toFixed(2)}`;
      return isFirst ? `M${place}h0` : `L${place}`;
    });
    return html`<path class="${colour} ${style}" d="${commands.join("")}"/>`;
  };
  const circlesOf = ({ label, colour, style, points: all }: Series): readonly Html[] =>
    all.flatMap(([at, value]) => {
      if (value === null || style === "dashed") return [];
      const marked = axis === "rate" || style === "dots" ? "marked" : "";
      return html`<circle class="${colour} ${marked}" cx="${x.at(at).toFixed(2)}%" cy="${top(value).toFixed(2)}%" r="3.5"><title>${label} at ${labelOf(at)}: ${format(value)} ${unit}</title></circle>`;
    });
  return html`<figure>
<figcaption>${title}, ${unit}<small>${note}</small></figcaption>
<svg class="plot" role="img" aria-label="${title}">
<svg x="12%" y="8" width="79%" height="200">
${levels}${places}
<svg viewBox="0 0 100 100" preserveAspectRatio="none">${series.filter(({ style }) => style !== "dots").map(pathOf)}</svg>
${series.flatMap(circlesOf)}</svg>
</svg>
<ul class="legend">${series.map(({ label, colour, style }) => html`<li class="${colour} ${style}">${label}</li>`)}</ul>
</figure>
`;
}

/** `at` converts a value to a percentage of the axis. */
function createScale(from: number, to: number) {
  const span = to - from || 1;
  const step = tickStep(span);
  const first = Math.ceil(from / step);
  const length = 1 + Math.floor((from + span) / step + 1e-9) - first;
  const ticks = Array.from({ length }, (_, index) => (first + index) * step);
  return { ticks, at: (value: number) => (100 * (value - from)) / span };
}

/** Returns the distance between two ticks: 1, 2 or 5 times a power of ten. */
function tickStep(span: number): number {
  const power = 10 ** Math.floor(Math.log10(span / MAX_TICKS));
  return power * ([1, 2, 5].find((factor) => factor * power >= span / MAX_TICKS) ?? 10);
}
