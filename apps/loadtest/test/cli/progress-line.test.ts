/** The line of progress of a run, on a terminal and in a log. */
import { expect, test } from "bun:test";
import { createProgressLine } from "../../src/cli/progress-line.ts";
import type { Progress } from "../../src/measure/run.ts";
import { exampleRun, latencyOf } from "../support/example-run.ts";

const { asked, server } = exampleRun();

const progress: Omit<Progress, "elapsedSeconds"> = {
  completedPerSecond: 88.4,
  latency: latencyOf([120, 512, 912]),
  statuses: { "200": 1321, "503": 12 },
  connectionErrors: {},
  server,
};

function createLine(terminal: { isTTY: boolean; columns?: number }) {
  const written: string[] = [];
  const write = (text: string) => void written.push(text);
  return { written, line: createProgressLine(asked, write, terminal) };
}

test("on a terminal the line is redrawn within its width, and removed at the end", () => {
  const { written, line } = createLine({ isTTY: true, columns: 61 });
  line.update({ ...progress, elapsedSeconds: 15.4 });
  line.update({ ...progress, elapsedSeconds: 16.4, latency: null, completedPerSecond: null, server: null });
  line.end();
  expect(written).toEqual([
    "\r\x1b[K15 of 60 s; 88.4 of 90.0/s; p50 512  p99 912 ms; 200 × 1,321",
    "\r\x1b[K16 of 60 s; – of 90.0/s; p50 –  p99 – ms; 200 × 1,321, 503 ×",
    "\r\x1b[K",
  ]);
});

test("without a terminal a line is written every five seconds of the run", () => {
  const { written, line } = createLine({ isTTY: false });
  for (const elapsedSeconds of [0.5, 4.9, 5.1, 5.6, 9.9, 21, 24.9])
    line.update({ ...progress, elapsedSeconds });
  const rest = "88.4 of 90.0/s; p50 512  p99 912 ms; 200 × 1,321, 503 × 12; 21 of 64 lanes busy, 0 queued\n";
  expect(written).toEqual([`5 of 60 s; ${rest}`, `21 of 60 s; ${rest}`]);
});
