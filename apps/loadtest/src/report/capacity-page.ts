/** The page of a capacity search: its conclusion, the rates of its steps and their results. */
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { Chart } from "./chart.ts";
import { code, facts, formatTime, type Tile, table, tiles } from "./components.ts";
import { chartFigures } from "./document.ts";
import * as format from "./format.ts";
import { type Html, html } from "./html.ts";

export function capacityBody(report: CapacityReport, charts: readonly Chart[]): readonly Html[] {
  const { url, startedAt, machine, sentence, p99BoundMs, curve, command } = report;
  return [
    html`<h1>Login capacity</h1>
<p class="sentence">${sentence}</p>
<p class="lead">${url} · ${formatTime(startedAt)}</p>
`,
    tiles(tilesOf(report)),
    chartFigures(charts),
    html`
<h2>Measured rates</h2>
<div class="panel">${stepTable(report)}</div>
`,
    html`<div class="halves">${curve.length > 0 ? curveSection(report) : []}<section><h2>Method</h2>
<div class="panel">${facts([
      ["Command", code(command)],
      ["Machine", machine],
      [
        "A rate passes",
        `if every login succeeds in time and p99 is within ${format.formatMs(p99BoundMs)} ms, in one of two runs`,
      ],
    ])}</div></section></div>
`,
  ];
}

function tilesOf({ loginsPerSecond, p99, p99BoundMs, cores, kernel, shareOfRaw }: CapacityReport) {
  const all: Tile[] = [
    {
      name: "logins per second",
      figure: format.formatRate(loginsPerSecond),
      unit: "/s",
      about: loginsPerSecond > 0 ? "highest rate that passed" : "no rate passed",
    },
    {
      name: "latency, p99",
      figure: format.formatMs(p99),
      unit: p99 === null ? "" : "ms",
      about: `bound ${format.formatMs(p99BoundMs)} ms`,
    },
  ];
  if (cores !== null && cores > 0) {
    const figure = format.formatRate(loginsPerSecond / cores);
    const about = `${cores} ${cores === 1 ? "core" : "cores"} of hash workers`;
    all.push({ name: "logins per core", figure, unit: "/s", about });
  }
  if (shareOfRaw !== null) {
    const figure = `${Math.round(100 * shareOfRaw)}`;
    all.push({ name: "of raw capacity", figure, unit: "%", about: "of the hashing core alone" });
  }
  if (kernel !== null) all.push({ name: "kernel", figure: kernel, about: "of the hash workers" });
  return all;
}

const stepTable = ({ steps }: CapacityReport): Html =>
  table(
    ["Offered /s", "Achieved /s", "p50 ms", "p99 ms", "Rejected", "Errors", "Attempts", ""],
    steps.map(({ ratePerSecond, achievedPerSecond, p50, p99, shed, errors, attempts, passed }) => [
      format.formatOffered(ratePerSecond),
      format.formatRate(achievedPerSecond),
      ...[p50, p99].map(format.formatMs),
      ...[shed, errors, attempts].map(format.formatCount),
      passed ? "passed" : "failed",
    ]),
  );

function curveSection({ curve }: CapacityReport): Html {
  const rows = curve.map(({ concurrency, perSecond, p50 }) => [
    format.formatCount(concurrency),
    format.formatRate(perSecond),
    format.formatMs(p50),
  ]);
  const points = table(["Clients", "Logins /s", "p50 ms"], rows);
  return html`<section><h2>By clients</h2><div class="panel">${points}</div></section>`;
}
