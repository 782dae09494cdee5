/** The page of a capacity search: its conclusion, its plots and the results of its rates. */
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { CurvePoint } from "../capacity/service-curve.ts";
import { type Chart, series } from "./chart.ts";
import { code, facts, formatTime, type Tile, table, tiles } from "./components.ts";
import { chartFigures, renderDocument } from "./document.ts";
import * as format from "./format.ts";
import { type Html, html } from "./html.ts";

export function renderCapacityPage(report: CapacityReport): Promise<string> {
  const { url, startedAt, machine, sentence, p99BoundMs, curve, command } = report;
  const charts = chartsOf(report);
  const body = [
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
  return renderDocument({ title: `Capacity of ${url}`, body, charts });
}

function chartsOf({ steps, curve, p99BoundMs }: CapacityReport): readonly Chart[] {
  const ascending = steps.toSorted((a, b) => a.ratePerSecond - b.ratePerSecond);
  const step = (name: "achievedPerSecond" | "p50" | "p99") => ascending.map((each) => each[name]);
  const point = (name: keyof CurvePoint) => curve.map((each) => each[name]);
  const rates = ascending.map(({ ratePerSecond }) => ratePerSecond);
  const byRate = { axis: "rate", isLogarithmic: false, x: rates } as const;
  const byClients = { axis: "clients", isLogarithmic: false, x: point("concurrency") } as const;
  const charts: readonly Chart[] = [
    {
      ...byRate,
      title: "Throughput by offered rate",
      note: "Below the dashed line, the service handles less than the offered rate.",
      unit: "/s",
      series: [
        series("achieved", "blue", "area", step("achievedPerSecond")),
        series("offered", "grey", "dashed", rates),
      ],
    },
    {
      ...byRate,
      title: "Latency by offered rate",
      note: "From the intended start of each login; the dashed line is the bound on p99.",
      unit: "ms",
      series: [
        series("p50", "blue", "line", step("p50")),
        series("p99", "amber", "line", step("p99")),
        series("bound", "red", "dashed", Array<number>(rates.length).fill(p99BoundMs)),
      ],
    },
    {
      ...byClients,
      title: "Throughput by clients",
      note: "Closed loop: each client logs in again when its login is complete.",
      unit: "/s",
      series: [series("logins", "blue", "area", point("perSecond"))],
    },
    {
      ...byClients,
      title: "Latency by clients",
      note: "Median of the same closed loop.",
      unit: "ms",
      series: [series("p50", "violet", "line", point("p50"))],
    },
  ];
  return charts.filter(({ x }) => x.length > 0);
}

function tilesOf({ loginsPerSecond, p99, p99BoundMs, cores, kernel, shareOfRaw }: CapacityReport) {
  const outcome = loginsPerSecond > 0 ? "highest rate that passed" : "no rate passed";
  const unit = p99 === null ? "" : "ms";
  const bound = `bound ${format.formatMs(p99BoundMs)} ms`;
  const all: Tile[] = [
    { name: "logins per second", figure: format.formatRate(loginsPerSecond), unit: "/s", about: outcome },
    { name: "latency, p99", figure: format.formatMs(p99), unit, about: bound },
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
    steps.map((step) => [...format.formatStep(step), step.passed ? "passed" : "failed"]),
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
