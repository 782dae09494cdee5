/** A plot as plain data: the page carries it as JSON and its script draws it, knowing nothing of load tests. */

/** Of the element that holds the page's charts as JSON. */
export const CHARTS_ID = "charts";

/** Colours are names of the page's CSS variables, so that they follow its scheme. */
export type Colour = "blue" | "amber" | "red" | "green" | "violet" | "grey";

export interface Series {
  readonly label: string;
  readonly colour: Colour;
  /** In the order of the chart's `x`; null leaves a gap. */
  readonly values: readonly (number | null)[];
  /** `area`: a line, filled down to nothing. `dashed`: a reference rather than a measurement. */
  readonly style: "line" | "area" | "dashed";
}

export interface Chart {
  readonly title: string;
  readonly note: string;
  /**
   * `seconds` and `rate` are linear, `clients` doubles from tick to tick, and `percentile` holds 1 / (1 - percentile) on a
   * logarithmic axis, which gives every further nine as much room as the one before.
   */
  readonly axis: "seconds" | "rate" | "clients" | "percentile";
  readonly unit: "ms" | "/s";
  readonly isLogarithmic: boolean;
  /** Ascending. */
  readonly x: readonly number[];
  readonly series: readonly Series[];
}
