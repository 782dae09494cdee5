/** The style sheet: one column on phones, two columns on larger screens, and the system's colour scheme. */

export const STYLES = `
:root {
  color-scheme: light dark; --page: #f5f6f8; --card: #ffffff; --ink: #17212c; --quiet: #5a6775; --line: #e2e6eb;
  --blue: #2f6bd8; --amber: #c2650f; --green: #1b855e; --red: #cf2f3d; --grey: #8c99a7;
}
@media screen and (prefers-color-scheme: dark) { :root {
  --page: #0e1319; --card: #161d25; --ink: #e7ecf2; --quiet: #95a2b1; --line: #28323d;
  --blue: #6fa5ff; --amber: #f0a050; --green: #4fc796; --red: #ff7a84; --grey: #7d8b9a;
} }
* { box-sizing: border-box; }
body {
  max-width: 1120px; margin: 0 auto; padding: 32px 16px; background: var(--page); color: var(--ink);
  font: 15px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; font-variant-numeric: tabular-nums;
}
h1 { margin: 0; font-size: 26px; line-height: 1.25; }
h1::first-letter, dt::first-letter { text-transform: uppercase; }
small, dt, thead, .quiet, .legend { color: var(--quiet); font-size: 13px; font-weight: 400; }
small { display: block; }
.quiet { margin: 0; }
.conclusion { font-size: 18px; }
.warning, .assertion { margin: 12px 0 0; padding: 8px 14px; border-left: 4px solid var(--amber); background: var(--card); }
.assertion + .assertion { margin-top: 4px; }
.passed { border-color: var(--green); }
.failed { border-color: var(--red); color: var(--red); font-weight: 600; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 12px; margin: 16px 0; }
figure, .panel { margin: 0; padding: 12px 16px; background: var(--card); border: 1px solid var(--line); border-radius: 10px; }
dd { margin: 0; }
figure { min-width: 0; padding: 14px 8px; }
figcaption { padding: 0 8px; font-weight: 650; }
.plot { display: block; width: 100%; height: 240px; }
.plot svg { overflow: visible; }
.plot line { stroke: var(--line); }
.plot text { fill: var(--quiet); font-size: 12px; text-anchor: middle; }
.plot text.y { text-anchor: end; dominant-baseline: middle; }
.plot path { fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; vector-effect: non-scaling-stroke; }
.plot path.dashed { stroke-dasharray: 5 5; stroke-width: 1.5; }
.plot circle { fill: currentColor; opacity: 0; }
.plot circle.marked, .plot circle:hover { opacity: 1; }
.legend { display: flex; justify-content: center; gap: 16px; margin: 0; padding: 0; list-style: none; }
.legend li::before { content: "● "; }
.legend .line::before { content: "━ "; }
.legend .dashed::before { content: "╍ "; }
.blue, .blue::before { color: var(--blue); } .amber { color: var(--amber); } .red { color: var(--red); }
.grey { color: var(--grey); }
.panel { margin-top: 12px; overflow-x: auto; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 5px 0 5px 16px; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); font-weight: inherit; }
th:first-child { padding-left: 0; text-align: left; }
tbody th { font-weight: 600; }
tbody tr:last-child > * { border-bottom: 0; }
@media screen and (max-width: 640px) {
  thead { display: none; }
  tbody tr { display: grid; grid-template-columns: 1fr 1fr; column-gap: 24px; padding: 8px 0; }
  tbody th { grid-column: 1 / -1; }
  td { display: flex; justify-content: space-between; padding-left: 0; }
  td::before { content: attr(data-name); color: var(--quiet); }
}
.facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 4px 16px; }
`;
