/** Formats reports as text for a terminal, with aligned figures. */
import type { SearchStep } from "../capacity/find-capacity.ts";
import * as format from "./format.ts";
import { describeAssertion, type Summary } from "./summary.ts";

const LABEL_WIDTH = 13;
const MIN_COLUMN_WIDTH = 7;

export function describe(summary: Summary): string {
  const { title, notices, conclusion, header, rows, facts, assertions, warnings, command } = summary;
  const sections = [
    [...notices, title],
    rows.length === 0 ? [] : alignTable([header, ...rows.map(({ cells }) => cells)]),
    facts.map(([name, text]) => name.padEnd(LABEL_WIDTH) + text),
    ["Repeat with:", `  ${command}`],
    assertions.map(describeAssertion),
    conclusion === null ? [] : [conclusion],
    ...warnings.map((text) => ["WARNING".padEnd(LABEL_WIDTH) + text]),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** Describes one run of a capacity search in one line. If the run failed, the line contains the reasons. */
export function describeStep(step: SearchStep, p99BoundMs: number): string {
  if ("clients" in step) return `${step.clients} clients, ${format.formatRate(step.perSecond)} logins/s`;
  const { ratePerSecond, sentPerSecond, achievedPerSecond, p99, passed, attempt } = step;
  const reasons = [
    step.shed > 0 ? `${format.formatCount(step.shed)} were rejected` : [],
    step.errors > 0 ? `${format.formatCount(step.errors)} had errors` : [],
    step.overloaded ? "too few were answered" : [],
    p99 !== null && p99 > p99BoundMs ? `p99 exceeds ${format.formatMs(p99BoundMs)} ms` : [],
  ].flat();
  const failed = `failed${attempt === 1 ? "" : " again"}: ${reasons.join(", ") || "none succeeded"}`;
  const outcome = passed ? "passed" : attempt === 1 ? `${failed}; is repeated` : failed;
  // If more logins were answered than sent, some of the answered logins were sent before the measurement.
  const earlier = achievedPerSecond > sentPerSecond ? " (also logins sent before)" : "";
  const rates = `${format.formatRate(sentPerSecond)}/s sent, ${format.formatRate(achievedPerSecond)}/s answered${earlier}`;
  return `rate ${format.formatOffered(ratePerSecond)}/s: ${rates}, p99 ${format.formatMs(p99)} ms; ${outcome}`;
}

/** Aligns the first column to the left and all other columns to the right. */
function alignTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(column === 0 ? 0 : MIN_COLUMN_WIDTH, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}
