/** Reports as text for a terminal of 80 columns, with aligned figures. */
import type { SearchStep } from "../capacity/find-capacity.ts";
import * as format from "./format.ts";
import { describeAssertion, type Summary } from "./summary.ts";

const WIDTH = 80;
/** Of the labels before texts. */
const LABEL_WIDTH = 13;
const MIN_COLUMN_WIDTH = 7;

export function describe(summary: Summary): string {
  const { title, notices, conclusion, header, rows, facts, assertions, warnings, command } = summary;
  const sections = [
    [...notices, title].map((text) => wrap(text)),
    rows.length === 0 ? [] : alignTable([header, ...rows.map(({ cells }) => cells)]),
    facts.map(([name, text]) => labelled(name, text)),
    ["Repeat with:", wrapCommand(command)],
    assertions.map((each) => wrap(describeAssertion(each), 2)),
    conclusion === null ? [] : [wrap(conclusion)],
    ...warnings.map((text) => [labelled("WARNING", text)]),
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/** One line for a run of a capacity search. */
export function describeStep(step: SearchStep): string {
  if ("clients" in step) return `${step.clients} clients, ${format.formatRate(step.perSecond)} logins/s`;
  const { ratePerSecond, sentPerSecond, achievedPerSecond, p99, passed, attempt } = step;
  const outcome = passed ? "passed" : attempt === 1 ? "failed, is repeated" : "failed again";
  const answered = `${format.formatRate(achievedPerSecond)} of ${format.formatRate(sentPerSecond)}/s answered`;
  return `rate ${format.formatOffered(ratePerSecond)}/s, ${answered}, p99 ${format.formatMs(p99)} ms, ${outcome}`;
}

const labelled = (label: string, text: string): string =>
  `${label.padEnd(LABEL_WIDTH)}${wrap(text, LABEL_WIDTH)}`;

/** Aligns the first column left and the others right. */
function alignTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(column === 0 ? 0 : MIN_COLUMN_WIDTH, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const pad = (cell: string, column: number) =>
    column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0);
  return rows.map((row) => row.map(pad).join("  ").trimEnd());
}

/** Wraps at spaces; a longer word is not divided, and neither are `200 × 12` and `5 %`. */
const wrap = (text: string, indent = 0): string =>
  fillLines(text.split(/(?<!×) (?![×%])/), WIDTH - indent).join(`\n${" ".repeat(indent)}`);

/**
 * Wraps a command between its options, to be pasted into a shell: with up to four columns of indentation before each line,
 * and two for the backslash after it.
 */
const wrapCommand = (command: string): string =>
  `  ${fillLines(command.split(/ (?=--)/), WIDTH - 6).join(" \\\n    ")}`;

function fillLines(parts: readonly string[], width: number): readonly string[] {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + part.length > width) lines.push(part);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines;
}
