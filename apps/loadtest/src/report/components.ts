/** The components of both pages: tiles, facts, warnings and tables. */
import { type Html, html } from "./html.ts";

export interface Tile {
  readonly name: string;
  readonly figure: string;
  readonly unit?: string;
  readonly about: string;
}

export const tiles = (all: readonly Tile[]): Html => html`<dl class="tiles">
${all.map(
  ({ name, figure, unit = "", about }) => html`<div class="tile"><dt>${name}</dt>
<dd><span class="figure">${figure}<span class="unit">${unit}</span></span><div class="about">${about}</div></dd></div>
`,
)}</dl>`;

export const warnings = (sentences: readonly string[]): readonly Html[] =>
  sentences.map(
    (sentence) => html`<p class="warning" role="note">${sentence}</p>
`,
  );

export const facts = (all: readonly (readonly [name: string, value: string | Html])[]): Html =>
  html`<dl class="facts">
${all.map(
  ([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>
`,
)}</dl>`;

/** A command that wraps only between its options. */
export const code = (command: string): Html =>
  html`<code>${command.split(/ (?=--)/).map((part) => html`<span>${part}</span> `)}</code>`;

/** The first cell of a row is its header. */
export const table = (
  head: readonly string[],
  rows: readonly (readonly (string | Html)[])[],
): Html => html`<div class="scroll" tabindex="0"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>
${rows.map(
  ([
    name = "",
    ...cells
  ]) => html`<tr><th scope="row">${name}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>
`,
)}</tbody>
</table></div>`;

/** In UTC, so that it is the same for every reader. */
export const formatTime = (iso: string): string =>
  `${new Date(iso).toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" })} UTC`;
