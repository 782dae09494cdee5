/**
 * The HTML document of a report: one file that loads nothing from the network. Its Content Security Policy allows one script
 * and one style sheet by their hashes, so that data in the report can never run as a script.
 */
import { fileURLToPath } from "node:url";
import { CHARTS_ID, type Chart } from "./chart.ts";
import { type Html, html, inlineJson, raw } from "./html.ts";
import { STYLES } from "./styles.ts";

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#2f6bd8"/>' +
  '<path d="M3 11.5 6 7l2.5 2.5L13 4" fill="none" stroke="#fff" stroke-width="1.8" stroke-linecap="round" stroke-linejoin="round"/></svg>';

interface Document {
  readonly title: string;
  readonly body: readonly Html[];
  /** The charts of the elements created by `chartFigures`. */
  readonly charts: readonly Chart[];
}

export async function renderDocument({ title, body, charts }: Document): Promise<string> {
  const [script, plotStyles] = await Promise.all([bundleScript(), read("uplot/dist/uPlot.min.css")]);
  const styles = plotStyles + STYLES;
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(styles)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:image/svg+xml,${encodeURIComponent(ICON)}">
<style>${raw(styles)}</style>
</head>
<body>
<main>
<p class="brand">${raw(ICON)}Latchkey load test</p>
${body}
</main>
<script type="application/json" id="${CHARTS_ID}">${inlineJson(charts)}</script>
<script>${raw(script)}</script>
</body>
</html>
`;
  return page.markup;
}

/** One figure per chart, in order: the script finds the data of a figure by its index. */
export const chartFigures = (charts: readonly Chart[]): Html => html`<div class="charts">
${charts.map(
  ({ title, note, series }, index) => html`<figure class="chart">
<figcaption>${title}<small>${note}</small></figcaption>
<div class="plot" data-chart="${index}" role="img" aria-label="${title}: ${series.map(({ label }) => label).join(", ")}"></div>
</figure>
`,
)}</div>`;

/** @throws {AggregateError} if the script cannot be built */
async function bundleScript(): Promise<string> {
  const built = await Bun.build({
    entrypoints: [fileURLToPath(new URL("page-script.ts", import.meta.url))],
    target: "browser",
    format: "iife",
    minify: true,
    banner: `/*! uPlot: ${await read("uplot/LICENSE")} */`,
  });
  const [output] = built.outputs;
  if (output === undefined) throw new Error("The script of the report was not built.");
  return (await output.text()).replaceAll("</", "<\\/");
}

const read = (specifier: string): Promise<string> =>
  Bun.file(fileURLToPath(import.meta.resolve(specifier))).text();

/** Content Security Policy Level 3, section 2.3.1: a hash source. */
const hashOf = (text: string): string =>
  `'sha256-${new Bun.CryptoHasher("sha256").update(text).digest("base64")}'`;
