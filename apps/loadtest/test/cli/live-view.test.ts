/** The live view on a terminal, emulated with the codes that the view uses, and in a log. */
import { expect, test } from "bun:test";
import { createLiveView } from "../../src/cli/live-view.ts";
import type { Progress } from "../../src/measure/run.ts";
import { exampleRun, latencyOf } from "../support/example-run.ts";

const { asked, server } = exampleRun();

const progressAt = (elapsedSeconds: number, changes: Partial<Progress> = {}): Progress => ({
  elapsedSeconds,
  completedPerSecond: 88.4,
  latency: latencyOf([120, 512, 912]),
  statuses: { "200": 1321, "503": 12 },
  connectionErrors: {},
  server,
  ...changes,
});

/** A control code, or one line of text. */
const PARTS = /\p{Cc}\[[?\d]*[A-Za-z]|\r|\P{Cc}*\n/gu;

/** Emulates the codes that the view uses; any other code is an error. */
function createTerminal(columns: number) {
  const terminal = { rows: [] as string[], row: 0, isCursorShown: true };
  const write = (text: string): void => {
    for (const [part] of text.matchAll(PARTS)) {
      const lines = /^.\[(\d+)A$/.exec(part)?.[1];
      if (part.endsWith("\n")) {
        expect(terminal.rows[terminal.row]).toBeUndefined();
        terminal.rows[terminal.row++] = part.slice(0, -1);
      } else if (lines !== undefined) terminal.row -= Number(lines);
      else if (part === "\x1b[J") terminal.rows.length = terminal.row;
      else if (part.startsWith("\x1b[?25")) terminal.isCursorShown = part.endsWith("h");
      else expect(part).toBe("\r");
    }
  };
  return { terminal, view: createLiveView({ write, isTerminal: true, columns, asked }) };
}

test("on a terminal the lines are redrawn in place with a hidden cursor, and removed at the end", () => {
  const { terminal, view } = createTerminal(80);
  view.update(progressAt(2, { latency: null, completedPerSecond: null }));
  expect(terminal.rows).toContain("latency   p50 –  p95 –  p99 – ms");
  view.update(progressAt(15.4));
  expect(terminal.isCursorShown).toBe(false);
  expect(terminal.rows).toEqual([
    "login, 90/s, Poisson arrivals, http://127.0.0.1:3000",
    "15 of 60 s  [██████████······························]",
    "rate      88.4/s completed of 90.0/s offered",
    "latency   p50 512  p95 912  p99 912 ms",
    "statuses  200 × 1,321, 503 × 12",
    "server    21 of 64 lanes busy, 0 queued (avx512)",
  ]);
  view.update(progressAt(61, { server: null }));
  expect(terminal.rows).toHaveLength(5);
  expect(terminal.rows[1]).toBe(`61 of 60 s  [${"█".repeat(40)}]`);
  view.end();
  view.end();
  view.update(progressAt(62));
  expect(terminal).toEqual({ rows: [], row: 0, isCursorShown: true });
});

test.each([1, 8, 24, 60, 200])("no line is wider than a terminal of %i columns", (columns) => {
  const { terminal, view } = createTerminal(columns);
  const statuses = { "200": 123456, "401": 9999, "503": 777, "429": 55, none: 3 };
  view.update(progressAt(30, { statuses, connectionErrors: { "timed out": 3 } }));
  for (const row of terminal.rows) expect(row.length).toBeLessThanOrEqual(Math.max(1, columns - 1));
});

test("without a terminal a plain line is written every five seconds of the run", () => {
  const written: string[] = [];
  const closed = { ...asked, load: { kind: "closed", concurrency: 4 } } as const;
  const view = createLiveView({ write: (text) => void written.push(text), isTerminal: false, asked: closed });
  for (const at of [0.5, 4.9, 5.1, 5.6, 9.9]) view.update(progressAt(at));
  view.update(progressAt(21, { statuses: {}, server: null }));
  view.update(progressAt(24.9));
  view.end();
  view.update(progressAt(30));
  expect(written).toEqual([
    "5 of 60 s; 88.4/s completed; p50 512  p95 912  p99 912 ms; 200 × 1,321, 503 × 12; " +
      "21 of 64 lanes busy, 0 queued (avx512)\n",
    "21 of 60 s; 88.4/s completed; p50 512  p95 912  p99 912 ms; no response\n",
  ]);
});
