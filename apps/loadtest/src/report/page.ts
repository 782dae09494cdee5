/** The report as files: a self-contained HTML page and JSON. */
import { describeError, unavailable } from "@latchkey/cli";
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { Run } from "../measure/results.ts";
import { chartsOf as chartsOfCapacity } from "./capacity-charts.ts";
import { capacityBody } from "./capacity-page.ts";
import { renderDocument } from "./document.ts";
import { chartsOf as chartsOfRun } from "./run-charts.ts";
import { runBody } from "./run-page.ts";

export function renderRunPage(run: Run): Promise<string> {
  const charts = chartsOfRun(run);
  return renderDocument({ title: `Load test of ${run.asked.url}`, body: runBody(run, charts), charts });
}

export function renderCapacityPage(report: CapacityReport): Promise<string> {
  const charts = chartsOfCapacity(report);
  return renderDocument({ title: `Capacity of ${report.url}`, body: capacityBody(report, charts), charts });
}

/**
 * @param path without an extension
 * @returns a line that names both files
 * @throws {CliError} with exit code 69 if a file cannot be written
 */
export async function writeReport(path: string, report: Run | CapacityReport, page: string): Promise<string> {
  try {
    await Bun.write(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
    await Bun.write(`${path}.html`, page);
  } catch (error) {
    throw unavailable(`Cannot write the report: ${describeError(error)}`);
  }
  return `Report: ${path}.html and ${path}.json\n`;
}
