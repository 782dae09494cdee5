/** A plot as plain data: the page contains it as JSON and its script draws it. */

/** Id of the element that contains the page's charts as JSON. */
export const CHARTS_ID = "charts";

/** Names of the page's CSS variables, so that colours follow the colour scheme. */
export type Colour = "blue" | "amber" | "red" | "green" | "violet" | "grey";

export interface Series {
  readonly label: string;
  readonly colour: Colour;
  /** `area`: a line, filled to the axis. `dashed`: a reference rather than a measurement. */
  readonly style: "line" | "area" | "dashed";
  /** In the order of the chart's `x`; null leaves a gap. */
  readonly values: readonly (number | null)[];
}

export interface Chart {
  readonly title: string;
  readonly note: string;
  /**
   * `seconds` and `rate` are linear, `clients` doubles from tick to tick, and `percentile` is 1 / (1 - percentile) on a
   * logarithmic axis, which gives each additional nine the same space.
   */
  readonly axis: "seconds" | "rate" | "clients" | "percentile";
  readonly unit: "ms" | "/s";
  readonly isLogarithmic: boolean;
  /** Ascending. */
  readonly x: readonly number[];
  readonly series: readonly Series[];
}

export const series = (
  label: string,
  colour: Colour,
  style: Series["style"],
  values: Series["values"],
): Series => ({ label, colour, style, values });
