/** The report as files: a self-contained HTML page and JSON. */
import { describeError, unavailable } from "@latchkey/cli";
import type { CapacityReport } from "../capacity/find-capacity.ts";
import type { RunReport } from "../measure/results.ts";
import { chartsOf as chartsOfCapacity } from "./capacity-charts.ts";
import { capacityBody } from "./capacity-page.ts";
import { renderDocument } from "./document.ts";
import { chartsOf as chartsOfRun } from "./run-charts.ts";
import { runBody } from "./run-page.ts";

export function renderRunPage(run: RunReport): Promise<string> {
  const charts = chartsOfRun(run);
  return renderDocument({ title: `Load test of ${run.asked.url}`, body: runBody(run, charts), charts });
}

export function renderCapacityPage(report: CapacityReport): Promise<string> {
  const charts = chartsOfCapacity(report);
  return renderDocument({ title: `Capacity of ${report.url}`, body: capacityBody(report, charts), charts });
}

/**
 * Writes the JSON first: it must not depend on the page.
 * @param path without an extension
 * @throws {CliError} with exit code 69 if a file cannot be written
 */
export async function writeReport<Report>(
  path: string,
  report: Report,
  renderPage: (report: Report) => Promise<string>,
): Promise<void> {
  await writeFile(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
  await writeFile(`${path}.html`, await renderPage(report));
}

/** @throws {CliError} with exit code 69 if the file cannot be written */
export async function writeFile(path: string, text: string): Promise<void> {
  try {
    await Bun.write(path, text);
  } catch (error) {
    throw unavailable(`Cannot write the report: ${describeError(error)}`);
  }
}
