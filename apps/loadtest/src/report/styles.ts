/** The style sheet: one column on phones, two on larger screens; the system's colour scheme; white in print. */

const LIGHT = `
  --page: #f5f6f8; --card: #ffffff; --ink: #17212c; --quiet: #5a6775; --line: #e2e6eb;
  --blue: #2f6bd8; --amber: #d97a1d; --green: #22936a; --red: #cf3e4a; --violet: #7b5bd1; --grey: #8c99a7;`;

const DARK = `
  --page: #0e1319; --card: #161d25; --ink: #e7ecf2; --quiet: #95a2b1; --line: #28323d;
  --blue: #6fa5ff; --amber: #f0a050; --green: #4fc796; --red: #ff7a84; --violet: #ab93f5; --grey: #7d8b9a;`;

export const STYLES = `
:root { color-scheme: light dark; ${LIGHT} }
@media screen and (prefers-color-scheme: dark) { :root { ${DARK} } }
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere;
  -webkit-text-size-adjust: 100%;
}
main { max-width: 1120px; margin: 0 auto; padding: 40px 24px 56px; }
h1 { margin: 0; font-size: 28px; line-height: 1.25; letter-spacing: -0.015em; font-weight: 650; text-wrap: balance; }
h2 { margin: 40px 0 12px; font-size: 17px; font-weight: 650; letter-spacing: -0.005em; }
.brand { margin: 0 0 8px; color: var(--quiet); font-size: 13px; font-weight: 600; }
.brand svg { width: 16px; height: 16px; margin-right: 7px; vertical-align: -3px; }
.lead { margin: 10px 0 0; color: var(--quiet); }
.sentence { margin: 14px 0 0; font-size: 18px; max-width: 46em; }
.warning {
  margin: 20px 0 0; padding: 10px 14px; border-radius: 8px; border-left: 4px solid var(--amber);
  background: color-mix(in srgb, var(--amber) 12%, var(--card));
}
.warning + .warning { margin-top: 8px; }
.tiles {
  display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 28px 0 0; padding: 0;
}
.tile, .chart, .panel { background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.tile { padding: 14px 18px 12px; }
.tile dt::first-letter { text-transform: uppercase; }
.tile dt { color: var(--quiet); font-size: 13px; }
.tile dd { margin: 0; }
.tile .figure {
  display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; font-variant-numeric: tabular-nums;
  font-size: 30px; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em;
}
.tile .unit { margin-left: 4px; color: var(--quiet); font-size: 14px; font-weight: 500; letter-spacing: 0; }
.tile .about { color: var(--quiet); font-size: 12.5px; }
.charts { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 12px; margin: 12px 0 0; }
.chart { margin: 0; padding: 16px 14px 8px; min-width: 0; }
.chart figcaption { padding: 0 4px 8px; font-weight: 650; }
.chart figcaption small { display: block; color: var(--quiet); font-weight: 400; font-size: 13px; }
.plot { min-height: 264px; overflow: hidden; }
.uplot { font-family: inherit; }
.u-legend { font-size: 12.5px; color: var(--quiet); font-variant-numeric: tabular-nums; }
.u-legend th { font-weight: 500; }
.u-legend .u-marker { width: 14px; height: 0; border-radius: 0; }
.u-legend.u-inline.u-live th::after { content: ""; }
.u-legend .u-series:first-child, .plot:not(:hover) .u-value { display: none; }
.plot:hover .u-series:first-child { display: inline-block; }
.plot:hover .u-series:first-child th { display: none; }
.u-legend .u-value { color: var(--ink); }
.u-hz .u-cursor-x, .u-hz .u-cursor-y { border-color: var(--grey); }
.panel { padding: 16px 18px; }
.scroll { overflow-x: auto; }
.scroll table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
.scroll :is(th, td) { padding: 6px 0 6px 16px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
.scroll :is(th, td):first-child { text-align: left; padding-left: 0; }
.scroll thead th { color: var(--quiet); font-size: 13px; font-weight: 500; }
.scroll tbody th { font-weight: 600; }
.scroll tbody tr:last-child > * { border-bottom: 0; }
.statuses .scroll td:nth-child(2) { text-align: left; white-space: normal; color: var(--quiet); }
.bars { display: block; width: 100%; height: 14px; border-radius: 4px; margin: 4px 0 12px; }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 8px; }
.halves { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 12px; }
dl.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 6px 18px; margin: 0; }
dl.facts dt { color: var(--quiet); }
dl.facts dd { margin: 0; }
code { font: 13px/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
code span { display: inline-block; max-width: 100%; }
details { margin-top: 12px; }
summary { cursor: pointer; color: var(--quiet); }
details[open] summary { margin-bottom: 10px; }
.fill-blue { fill: var(--blue); background: var(--blue); } .fill-green { fill: var(--green); background: var(--green); }
.fill-amber { fill: var(--amber); background: var(--amber); } .fill-red { fill: var(--red); background: var(--red); }
.fill-grey { fill: var(--grey); background: var(--grey); } .fill-violet { fill: var(--violet); background: var(--violet); }
@media screen and (max-width: 760px) {
  main { padding: 24px 14px 40px; }
  h1 { font-size: 23px; }
  .charts, .halves { grid-template-columns: minmax(0, 1fr); }
  .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px; }
  .tile { padding: 12px 14px 10px; }
  .tile .figure { font-size: 25px; }
  .tile:first-child:nth-last-child(odd) { grid-column: 1 / -1; }
  .panel { padding: 14px; }
  dl.facts { grid-template-columns: minmax(0, 1fr); gap: 0; }
  dl.facts dd { margin-bottom: 10px; }
}
@media print {
  :root { --page: #ffffff; }
  @page { margin: 14mm; }
  body { font-size: 12px; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main { max-width: none; padding: 0; }
  .tile, .chart, .panel, .warning, tr { break-inside: avoid; }
  h2 { break-after: avoid; margin-top: 24px; }
  .tiles { grid-template-columns: repeat(5, minmax(0, 1fr)); gap: 8px; }
  .tile { padding: 8px 10px; } .tile .figure { font-size: 20px; }
  .plot { min-height: 0; }
  .uplot, .u-wrap { width: 100% !important; height: auto !important; }
  .u-wrap canvas { height: auto !important; }
  .u-over, .u-under, .u-value, details { display: none; }
}
`;
