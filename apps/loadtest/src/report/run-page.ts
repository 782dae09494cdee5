/** The page of one run, from the key figures down to every second as numbers. */
import type { OperationResult, Run } from "../measure/results.ts";
import type { Chart } from "./chart.ts";
import { code, facts, formatMoment, type Tile, table, tiles, warnings } from "./components.ts";
import { chartFigures } from "./document.ts";
import * as format from "./format.ts";
import { type Html, html } from "./html.ts";
import { commandOf } from "./shell-command.ts";
import { statusPanel } from "./statuses.ts";
import { describeDriver, describeServer, interruption, warningsOf } from "./text.ts";

export function runBody(run: Run, charts: readonly Chart[]): readonly Html[] {
  const { asked, all, startedAt, machine } = run;
  return [
    html`<h1>${headingOf(run)}</h1>
<p class="lead">${asked.url} · ${format.formatUsers(asked)} · ${formatMoment(startedAt)}</p>
`,
    ...warnings([...interruption(run), ...warningsOf(run)]),
    tiles(tilesOf(run)),
    chartFigures(charts),
    html`
<div class="halves"><section><h2>Statuses</h2>
${statusPanel(all.statuses)}</section>
<section><h2>How it was measured</h2>
<div class="panel">${facts([
      ["Command", code(commandOf(asked))],
      ["Machine", machine],
      ["Load tester", describeDriver(run)],
      ...(run.server ? [["Service", describeServer(run.server)] as const] : []),
      ["Counted", format.formatSeconds(run.countedSeconds)],
    ])}</div></section></div>
<h2>In numbers</h2>
<div class="panel">${operationTable(run)}
<details><summary>Every second</summary>${secondTable(run)}</details></div>
`,
  ];
}

const headingOf = ({ asked }: Run): string =>
  `${asked.scenario}: ${format.formatLoad(asked)}, for ${format.formatSeconds(asked.durationSeconds)}`.replace(
    /^./,
    (first) => first.toUpperCase(),
  );

function tilesOf(run: Run): readonly Tile[] {
  const { noun, result, latency } = format.headlineOf(run);
  const { asked, all, probe } = run;
  const { load } = asked;
  const ofLatency = (name: "p50" | "p99", about: string): Tile => ({
    name: `${noun}, ${name}`,
    figure: format.formatMs(latency?.[name] ?? null),
    unit: latency ? "ms" : "",
    about,
  });
  return [
    {
      name: `${noun} a second`,
      figure: format.formatRate(result.perSecond),
      unit: "/s",
      about:
        load.kind === "open"
          ? `of ${format.formatAsked(load.ratePerSecond)}/s asked`
          : `by ${format.formatLoad(asked)}`,
    },
    ofLatency("p50", "half were faster"),
    ofLatency("p99", latency ? `slowest ${format.formatMs(latency.max)} ms` : "nothing was answered"),
    {
      name: "errors",
      figure: format.formatCount(all.errors),
      unit: "",
      about: `${format.formatShare(all.errors, all.sent)} of ${format.formatCount(all.sent)}`,
    },
    {
      name: "probe, p99",
      figure: format.formatMs(probe.latency?.p99 ?? null),
      unit: probe.latency ? "ms" : "",
      about: `${format.formatCount(probe.latency?.count ?? 0)} of /healthz`,
    },
  ];
}

function operationTable({ operations, all, probe }: Run): Html {
  const row = (name: string, { sent, errors, perSecond, latency }: OperationResult): readonly string[] => [
    name,
    format.formatCount(sent),
    format.formatCount(errors),
    format.formatRate(perSecond),
    ...milliseconds(latency),
  ];
  const rows = Object.entries(operations).map(([name, result]) => row(name, result));
  if (rows.length > 1) rows.push(row("all", all));
  const count = format.formatCount(probe.latency?.count ?? 0);
  rows.push(["probe", count, format.NOTHING, format.NOTHING, ...milliseconds(probe.latency)]);
  const head = ["", "Sent", "Errors", "Per second", "p50 ms", "p95 ms", "p99 ms", "Mean ms", "Max ms"];
  return table({ head, rows });
}

const milliseconds = (latency: OperationResult["latency"]): readonly string[] =>
  [latency?.p50, latency?.p95, latency?.p99, latency?.mean, latency?.max].map((ms) =>
    format.formatMs(ms ?? null),
  );

const secondTable = ({ seconds }: Run): Html =>
  table({
    head: ["Second", "Offered", "Answered", "Errors", "p50 ms", "p99 ms", "Probe p99 ms"],
    rows: seconds.map(({ second, offered, answered, errors, p50, p99, probeP99 }) => [
      ...[second, offered, answered, errors].map(format.formatCount),
      ...[p50, p99, probeP99].map(format.formatMs),
    ]),
  });
