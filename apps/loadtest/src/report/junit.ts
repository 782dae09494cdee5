import type { RunReport } from "../measure/results.ts";
import * as format from "./format.ts";
import { html, raw } from "./html.ts";

/** JUnit XML with one test case per assertion, in the schema that Jenkins, GitLab and GitHub actions read. */
export function renderJunit({ asked, assertions, countedSeconds, startedAt }: RunReport): string {
  const failures = assertions.filter(({ passed }) => !passed).length;
  const counts = html`tests="${assertions.length}" failures="${failures}" errors="0" time="${countedSeconds}"`;
  const name = `${asked.scenario}, ${format.formatLoad(asked)}, ${asked.url}`;
  const cases = assertions.map(
    ({ assertion, passed, result }) =>
      html`    <testcase classname="loadtest.${asked.scenario}" name="${assertion}" time="0">
${passed ? html`      <system-out>${result}</system-out>` : html`      <failure type="assertion" message="${result}"/>`}
    </testcase>
`,
  );
  return html`${raw('<?xml version="1.0" encoding="UTF-8"?>')}
<testsuites name="Latchkey load test" ${counts}>
  <testsuite name="${name}" timestamp="${startedAt}" ${counts} skipped="0">
${cases}  </testsuite>
</testsuites>
`.markup;
}
