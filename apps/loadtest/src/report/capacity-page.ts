/** The page of a capacity search: its one sentence, the rates it tried and what came of each. */
import type { CapacityReport } from "../measure/results.ts";
import type { Chart } from "./chart.ts";
import { code, facts, formatMoment, type Tile, table, tiles } from "./components.ts";
import { chartFigures } from "./document.ts";
import * as format from "./format.ts";
import { type Html, html } from "./html.ts";
import { capacityCommandOf } from "./shell-command.ts";

export function capacityBody(report: CapacityReport, charts: readonly Chart[]): readonly Html[] {
  const { url, startedAt, machine, sentence, p99BoundMs, curve } = report;
  return [
    html`<h1>How many logins a second?</h1>
<p class="sentence">${sentence}</p>
<p class="lead">${url} · ${formatMoment(startedAt)}</p>
`,
    tiles(tilesOf(report)),
    chartFigures(charts),
    html`
<h2>Rates that were tried</h2>
<div class="panel">${stepTable(report)}</div>
`,
    html`<div class="halves">${curve.length > 0 ? curveSection(report) : []}<section><h2>How it was measured</h2>
<div class="panel">${facts([
      ["Command", code(capacityCommandOf(report))],
      ["Machine", machine],
      [
        "A rate holds",
        `while every login is answered as it should be and p99 stays within ${format.formatMs(p99BoundMs)} ms`,
      ],
    ])}</div></section></div>
`,
  ];
}

function tilesOf({ loginsPerSecond, p99, p99BoundMs, cores, kernel, shareOfRaw }: CapacityReport) {
  const all: Tile[] = [
    {
      name: "logins a second",
      figure: format.formatRate(loginsPerSecond),
      unit: "/s",
      about: loginsPerSecond > 0 ? "the highest rate that held" : "no rate held",
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
  if (kernel !== null) all.push({ name: "kernel", figure: kernel, unit: "", about: "that derives" });
  return all;
}

const stepTable = ({ steps }: CapacityReport): Html =>
  table({
    head: ["Asked /s", "Answered /s", "p50 ms", "p99 ms", "Shed", "Errors", ""],
    rows: steps.map(({ ratePerSecond, achievedPerSecond, p50, p99, shed, errors, passed }) => [
      format.formatAsked(ratePerSecond),
      format.formatRate(achievedPerSecond),
      ...[p50, p99].map(format.formatMs),
      ...[shed, errors].map(format.formatCount),
      passed ? "held" : "not held",
    ]),
  });

const curveSection = ({ curve }: CapacityReport): Html =>
  html`<section><h2>By clients</h2><div class="panel">${table({
    head: ["Clients", "Logins /s", "p50 ms"],
    rows: curve.map(({ concurrency, perSecond, p50 }) => [
      format.formatCount(concurrency),
      format.formatRate(perSecond),
      format.formatMs(p50),
    ]),
  })}</div></section>`;
