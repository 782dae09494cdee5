/** The contents of a report. The terminal and the page display the same summary of a run or of a capacity search. */
import type { AssertionResult } from "../measure/assertions.ts";
import type { Chart } from "./chart.ts";

export interface Summary {
  readonly title: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** What readers must know before they read the figures. */
  readonly notices: readonly string[];
  /** The result as a sentence. */
  readonly conclusion: string | null;
  readonly charts: readonly Chart[];
  readonly header: readonly string[];
  /** The first cell names the row. */
  readonly rows: readonly { readonly cells: readonly string[]; readonly failed?: boolean }[];
  readonly facts: readonly (readonly [name: string, text: string])[];
  readonly assertions: readonly AssertionResult[];
  /** Reasons why the figures can be misleading. */
  readonly warnings: readonly string[];
  /** The shell command that repeats the measurement. */
  readonly command: string;
}

export const describeAssertion = ({ assertion, passed, result }: AssertionResult): string =>
  `${passed ? "✓" : "✗"} ${assertion}: ${result}`;
