/**
 * Renders a report as one HTML file that loads nothing and runs no script. The Content Security Policy allows only the style
 * sheet with the hash `STYLES_HASH`, so data in the report can never run as a script.
 */
import { renderChart } from "./chart.ts";
import { html, raw } from "./html.ts";
import { STYLES } from "./styles.ts";
import { describeAssertion, type Summary } from "./summary.ts";

/** A hash source (Content Security Policy Level 3, section 2.3.1). */
const STYLES_HASH = `'sha256-${new Bun.CryptoHasher("sha256").update(STYLES).digest("base64")}'`;

export function renderPage(summary: Summary): string {
  const { title, notices, warnings, conclusion, charts, assertions, header, rows, facts, command } = summary;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${STYLES_HASH}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${raw(STYLES)}</style>
</head>
<body>
<p class="quiet">Latchkey load test · ${formatTime(summary.startedAt)}</p>
<h1>${title}</h1>
${conclusion === null ? "" : html`<p class="conclusion">${conclusion}</p>`}
${[...notices, ...warnings].map((text) => html`<p class="warning">${text}</p>`)}
${assertions.map((each) => html`<p class="assertion ${each.passed ? "passed" : "failed"}">${describeAssertion(each)}</p>`)}
<div class="charts">
${charts.map(renderChart)}</div>
<div class="panel"><table>
<thead><tr>${header.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ cells: [name = "", ...cells], failed }) => html`
<tr class="${failed ? "failed" : ""}"><th scope="row">${name}</th>${cells.map((cell, index) => html`<td data-name="${header[index + 1] ?? ""}">${cell}</td>`)}</tr>`,
  )}
</tbody></table></div>
<dl class="panel facts">${facts.map(
    ([name, text]) => html`
<dt>${name}</dt><dd>${text}</dd>`,
  )}
<dt>command</dt><dd><code>${command}</code></dd>
</dl>
</body>
</html>
`;
  return page.markup;
}

/** Formats the time in UTC, because the text must be the same for every reader. */
const formatTime = (iso: string): string =>
  `${new Date(iso).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })} UTC`;
