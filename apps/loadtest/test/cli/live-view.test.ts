/** The live view on a terminal, emulated with the codes that the view uses, and in a log. */
import { expect, test } from "bun:test";
import { createLiveView } from "../../src/cli/live-view.ts";
import type { Progress } from "../../src/measure/run.ts";
import { exampleRun } from "../support/example-run.ts";

const { asked, server } = exampleRun();

const progressAt = (elapsedSeconds: number, changes: Partial<Progress> = {}): Progress => ({
  elapsedSeconds,
  completedPerSecond: 88.4,
  latency: {
    count: 1321,
    mean: 200,
    p50: 120.4,
    p90: 500,
    p95: 640,
    p99: 912,
    "p99.9": 1400,
    max: 1500,
    curve: [],
  },
  statuses: { "200": 1321, "503": 12 },
  connectionErrors: {},
  server,
  ...changes,
});

/** A control code, a line end, or plain text. */
const PARTS = /(\p{Cc}\[[?\d]*[A-Za-z]|\r)|(\n)|(\P{Cc}+)/gu;

/** Emulates the codes that the view uses; any other code is an error. */
function createTerminal(columns: number) {
  let rows: string[] = [""];
  let row = 0;
  const terminal = {
    isCursorShown: true,
    widest: 0,
    text: () => rows.join("\n"),
    write(text: string) {
      for (const [, code, newline, plain] of text.matchAll(PARTS)) {
        if (newline !== undefined) {
          row += 1;
          rows[row] ??= "";
        } else if (plain !== undefined) {
          terminal.widest = Math.max(terminal.widest, plain.length);
          if (rows[row] !== "") throw new Error("existing text was overwritten");
          rows[row] = plain;
        } else execute(code ?? "");
      }
    },
  };
  const execute = (code: string): void => {
    const lines = /^.\[(\d+)A$/.exec(code)?.[1];
    if (code === "\x1b[?25l") terminal.isCursorShown = false;
    else if (code === "\x1b[?25h") terminal.isCursorShown = true;
    else if (code === "\x1b[J") rows = [...rows.slice(0, row), ""];
    else if (lines !== undefined) row -= Number(lines);
    else if (code !== "\r") throw new Error(`unknown code ${JSON.stringify(code)}`);
  };
  return { terminal, view: createLiveView({ write: terminal.write, isTerminal: true, columns, asked }) };
}

test("on a terminal the lines are redrawn in place with a hidden cursor", () => {
  const { terminal, view } = createTerminal(80);
  view.update(progressAt(2, { server: null, latency: null, completedPerSecond: null }));
  expect(terminal.text()).toContain("latency   p50 –  p95 –  p99 – ms");
  view.update(progressAt(15.4));
  expect(terminal.isCursorShown).toBe(false);
  expect(terminal.text()).toBe(`\
login, 90/s, Poisson arrivals, http://127.0.0.1:3000
[██████████······························]  15 of 60 s
rate      88.4/s completed of 90.0/s offered
latency   p50 120  p95 640  p99 912 ms
statuses  200 × 1,321, 503 × 12
server    21 of 64 lanes busy, 0 queued (avx512)
`);
  view.update(progressAt(61, { server: null }));
  expect(terminal.text().split("\n")).toHaveLength(6);
  expect(terminal.text()).toContain(`[${"█".repeat(40)}]  61 of 60 s`);
});

test("the end restores the terminal, and later updates draw nothing", () => {
  const { terminal, view } = createTerminal(80);
  view.update(progressAt(1));
  view.end();
  view.end();
  view.update(progressAt(2));
  expect(terminal.text()).toBe("");
  expect(terminal.isCursorShown).toBe(true);
});

test("a view without updates writes nothing", () => {
  const { terminal, view } = createTerminal(80);
  view.end();
  expect(terminal.text()).toBe("");
});

test.each([1, 8, 24, 40, 60, 200])("no line is wider than a terminal of %i columns", (columns) => {
  const { terminal, view } = createTerminal(columns);
  view.update(
    progressAt(30, {
      statuses: { "200": 123456, "401": 9999, "503": 777, "429": 55, none: 3 },
      connectionErrors: { "timed out": 3 },
    }),
  );
  expect(terminal.widest).toBeLessThanOrEqual(Math.max(1, columns - 1));
});

test("without a terminal a plain line is written every five seconds of the run", () => {
  const written: string[] = [];
  const write = (text: string): void => void written.push(text);
  const view = createLiveView({ write, isTerminal: false, asked });
  for (const at of [0.5, 4.9, 5.1, 5.6, 9.9]) view.update(progressAt(at));
  view.update(progressAt(21, { statuses: {}, server: null }));
  view.update(progressAt(24.9));
  view.end();
  view.update(progressAt(30));
  expect(written).toEqual([
    "5 of 60 s; 88.4/s completed of 90.0/s offered; p50 120  p95 640  p99 912 ms; 200 × 1,321, 503 × 12; " +
      "21 of 64 lanes busy, 0 queued (avx512)\n",
    "21 of 60 s; 88.4/s completed of 90.0/s offered; p50 120  p95 640  p99 912 ms; no response\n",
  ]);
});

test("a closed loop has no offered rate", () => {
  const written: string[] = [];
  const closed = { ...asked, load: { kind: "closed", concurrency: 4 } } as const;
  const view = createLiveView({
    write: (text) => void written.push(text),
    isTerminal: false,
    asked: closed,
  });
  view.update(progressAt(5, { server: null }));
  expect(written.join()).toStartWith("5 of 60 s; 88.4/s completed; p50 120 ");
});
