/** The two files of a report, side by side: one to look at, one to compute with. */
import { describeError, EXIT, LoadtestError } from "../errors.ts";
import type { CapacityReport, Run } from "../measure/results.ts";

/**
 * @param path without an extension
 * @returns a line that names both
 * @throws {LoadtestError} if one cannot be written
 */
export async function writeReport(path: string, report: Run | CapacityReport, page: string): Promise<string> {
  try {
    await Bun.write(`${path}.json`, `${JSON.stringify(report, null, 2)}\n`);
    await Bun.write(`${path}.html`, page);
  } catch (error) {
    throw new LoadtestError(`The report cannot be written: ${describeError(error)}`, EXIT.unavailable);
  }
  return `Report: ${path}.html and ${path}.json\n`;
}
