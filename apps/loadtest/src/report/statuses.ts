/** How the answers divide by status: a bar and the same as a table. */
import type { Colour } from "./chart.ts";
import { table } from "./components.ts";
import { formatCount, formatShare, sortedStatuses } from "./format.ts";
import { type Html, html } from "./html.ts";

const MEANINGS: Readonly<Record<string, string>> = {
  "200": "answered",
  "201": "created",
  "204": "done",
  "401": "refused: credentials",
  "409": "refused: exists",
  "422": "refused: not valid",
  "429": "refused: rate limit",
  "503": "shed: queue full or not ready",
  none: "no answer",
};

function colourOf(status: string): Colour {
  if (status === "none") return "grey";
  if (status === "503") return "amber";
  if (status.startsWith("2")) return "green";
  return status.startsWith("4") ? "violet" : "red";
}

export function statusPanel(statuses: Readonly<Record<string, number>>): Html {
  const sorted = sortedStatuses(statuses);
  const sum = sorted.reduce((total, [, count]) => total + count, 0);
  if (sum === 0) return html`<div class="panel">Nothing was answered.</div>`;
  let start = 0;
  const bars = sorted.map(([status, count]) => {
    const width = (100 * count) / sum;
    start += width;
    return html`<rect class="fill-${colourOf(status)}" x="${start - width}" width="${width}" height="4"/>`;
  });
  const rows = sorted.map(([status, count]) => [
    html`<span class="dot fill-${colourOf(status)}"></span>${status}`,
    MEANINGS[status] ?? "",
    formatCount(count),
    formatShare(count, sum),
  ]);
  return html`<div class="panel statuses">
<svg class="bars" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${bars}</svg>
${table({ head: ["Status", "", "Answers", "Share"], rows })}
</div>`;
}
