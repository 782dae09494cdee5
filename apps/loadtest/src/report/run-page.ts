/** The page of a run, from the key figures to the figures of every second. */
import type { OperationResult, Run, RunReport } from "../measure/results.ts";
import type { Colour } from "./chart.ts";
import { code, facts, formatTime, type Tile, table, tiles, warnings } from "./components.ts";
import { chartFigures, renderDocument } from "./document.ts";
import * as format from "./format.ts";
import { type Html, html } from "./html.ts";
import { chartsOf } from "./run-charts.ts";
import { describeLoadGenerator, describeServer, noticesOf, unansweredOf, warningsOf } from "./text.ts";

export function renderRunPage(run: RunReport): Promise<string> {
  const { asked, all, startedAt, machine, assertions, command } = run;
  const charts = chartsOf(run);
  const unanswered = unansweredOf(run);
  const body = [
    html`<h1>${headingOf(run)}</h1>
<p class="lead">${asked.url} · ${format.formatUsers(asked)} · ${formatTime(startedAt)}</p>
`,
    ...warnings([...(unanswered === null ? [] : [unanswered]), ...noticesOf(run), ...warningsOf(run)]),
    tiles(tilesOf(run)),
    ...(assertions.length > 0 ? [assertionPanel(assertions)] : []),
    chartFigures(charts),
    html`
<div class="halves"><section><h2>Statuses</h2>
${statusPanel(all)}</section>
<section><h2>Method</h2>
<div class="panel">${facts([
      ["Command", code(command)],
      ["Machine", machine],
      ["Load generator", describeLoadGenerator(run)],
      ...(run.server ? [["Service", describeServer(run.server)] as const] : []),
      ["Measured", format.formatSeconds(run.countedSeconds)],
    ])}</div></section></div>
<h2>Details</h2>
<div class="panel">${operationTable(run)}
<details><summary>Every second</summary>${secondTable(run)}</details></div>
`,
  ];
  return renderDocument({ title: `Load test of ${asked.url}`, body, charts });
}

function headingOf({ asked }: Run): string {
  const heading = `${asked.scenario}: ${format.formatLoad(asked)}, for ${format.formatSeconds(asked.durationSeconds)}`;
  return `${heading.charAt(0).toUpperCase()}${heading.slice(1)}`;
}

function tilesOf(run: Run): readonly Tile[] {
  const { asked, all, operations, probe } = run;
  const { load } = asked;
  // Logins if the scenario has any, otherwise the operation that gives the scenario its name, otherwise all operations.
  const { login, register } = operations;
  const { latency, perSecond } = login ?? register ?? all;
  const noun = login ? "logins" : register ? "registrations" : "requests";
  const ofLatency = (name: "p50" | "p99", about: string): Tile => ({
    name: `${noun}, ${name}`,
    figure: format.formatMs(latency?.[name]),
    unit: latency ? "ms" : "",
    about,
  });
  const isOpen = load.kind === "open";
  return [
    {
      name: `${noun} per second`,
      figure: format.formatRate(perSecond),
      unit: "/s",
      about: isOpen
        ? `of ${format.formatOffered(load.ratePerSecond)}/s offered`
        : `by ${format.formatLoad(asked)}`,
    },
    ofLatency("p50", "median"),
    ofLatency("p99", latency ? `maximum ${format.formatMs(latency.max)} ms` : "no responses"),
    {
      name: "errors",
      figure: format.formatCount(all.errors),
      about: `${format.formatShare(all.errors, all.sent)} of ${format.formatCount(all.sent)}`,
    },
    {
      name: "probe, p99",
      figure: format.formatMs(probe.latency?.p99),
      unit: probe.latency ? "ms" : "",
      about: `${format.formatCount(probe.latency?.count ?? 0)} of /healthz`,
    },
  ];
}

const MEANINGS: Readonly<Record<string, string>> = {
  "200": "success",
  "201": "created",
  "204": "no content",
  "401": "rejected: credentials",
  "409": "rejected: already exists",
  "422": "rejected: invalid",
  "429": "rejected: rate limit",
  "503": "rejected: queue full or not ready",
  refused: "connection refused",
  reset: "connection reset",
  closed: "connection closed before the response",
  "timed out": "no response in time",
};

function colourOf(status: string): Colour {
  if (!/^\d/.test(status)) return "grey";
  if (status === "503") return "amber";
  if (status.startsWith("2")) return "green";
  return status.startsWith("4") ? "violet" : "red";
}

const assertionPanel = (assertions: RunReport["assertions"]): Html => html`<h2>Assertions</h2>
<div class="panel">${table(
  ["Assertion", "", "Measured"],
  assertions.map(({ assertion, passed, result }) => [assertion, passed ? "✓ passed" : "✗ failed", result]),
)}</div>
`;

/** The distribution of the statuses, as a bar and as a table. */
function statusPanel(all: Run["all"]): Html {
  const sorted = format.sortedStatuses(all);
  const sum = sorted.reduce((total, [, count]) => total + count, 0);
  if (sum === 0) return html`<div class="panel">No responses.</div>`;
  let start = 0;
  const bars = sorted.map(([status, count]) => {
    const width = (100 * count) / sum;
    start += width;
    return html`<rect class="fill-${colourOf(status)}" x="${start - width}" width="${width}" height="4"/>`;
  });
  const rows = sorted.map(([status, count]) => [
    html`<span class="dot fill-${colourOf(status)}"></span>${status}`,
    MEANINGS[status] ?? "",
    format.formatCount(count),
    format.formatShare(count, sum),
  ]);
  return html`<div class="panel statuses">
<svg class="bars" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
${table(["Status", "", "Responses", "Share"], rows)}
</div>`;
}

function operationTable({ operations, all, probe }: Run): Html {
  const row = (name: string, { sent, errors, perSecond, latency }: OperationResult): readonly string[] => [
    name,
    ...[sent, errors].map(format.formatCount),
    format.formatRate(perSecond),
    ...milliseconds(latency),
  ];
  const rows = Object.entries(operations).map(([name, result]) => row(name, result));
  if (rows.length > 1) rows.push(row("all", all));
  const count = format.formatCount(probe.latency?.count ?? 0);
  rows.push(["probe", count, format.NO_VALUE, format.NO_VALUE, ...milliseconds(probe.latency)]);
  const latencies = ["p50 ms", "p90 ms", "p95 ms", "p99 ms", "p99.9 ms", "Mean ms", "Max ms"];
  return table(["", "Sent", "Errors", "Per second", ...latencies], rows);
}

const LATENCIES = ["p50", "p90", "p95", "p99", "p99.9", "mean", "max"] as const;

const milliseconds = (latency: OperationResult["latency"]): readonly string[] =>
  LATENCIES.map((name) => format.formatMs(latency?.[name]));

const secondTable = ({ seconds }: Run): Html =>
  table(
    ["Second", "Offered", "Completed", "Errors", "p50 ms", "p99 ms", "Probe p99 ms"],
    seconds.map(({ second, offered, answered, errors, p50, p99, probeP99 }) => [
      ...[second, offered, answered, errors].map(format.formatCount),
      ...[p50, p99, probeP99].map(format.formatMs),
    ]),
  );
