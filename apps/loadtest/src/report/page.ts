/** The report as one HTML file that needs nothing else, neither a server nor a network. */
import type { CapacityReport, Run } from "../measure/results.ts";
import { chartsOf as chartsOfCapacity } from "./capacity-charts.ts";
import { capacityBody } from "./capacity-page.ts";
import { renderDocument } from "./document.ts";
import { chartsOf as chartsOfRun } from "./run-charts.ts";
import { runBody } from "./run-page.ts";

export function renderPage(run: Run): Promise<string> {
  const charts = chartsOfRun(run);
  return renderDocument({ title: `Load test of ${run.asked.url}`, body: runBody(run, charts), charts });
}

export function renderCapacityPage(report: CapacityReport): Promise<string> {
  const charts = chartsOfCapacity(report);
  return renderDocument({ title: `Capacity of ${report.url}`, body: capacityBody(report, charts), charts });
}
