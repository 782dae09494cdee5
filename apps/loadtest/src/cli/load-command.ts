/** Executes the load test commands: run, progress, report, assertions. Standard output contains only the report. */
import { CliError, describeError, EXIT, unavailable, write, writeError } from "@latchkey/cli";
import { findCapacity } from "../capacity/find-capacity.ts";
import { checkAssertions } from "../measure/assertions.ts";
import type { RunReport } from "../measure/results.ts";
import { runLoad } from "../measure/run.ts";
import { openServerMetrics, type ServerMetrics } from "../measure/server-metrics.ts";
import { renderCapacityPage } from "../report/capacity-page.ts";
import { renderJunit } from "../report/junit.ts";
import { renderRunPage } from "../report/run-page.ts";
import {
  describeAssertion,
  describeCapacity,
  describeRun,
  describeSearch,
  unansweredOf,
} from "../report/text.ts";
import { createLiveView } from "./live-view.ts";
import { commandOf, type Flags, type Options, parseOptions } from "./options.ts";

interface Context {
  readonly metrics: ServerMetrics | undefined;
  readonly signal: AbortSignal;
  readonly writeProgress: (text: string) => void;
  readonly onUser: (done: number, total: number) => void;
}

/** @throws {CliError} 1 if an assertion fails, 69 without any response, 130 if the signal came, and others */
export async function runLoadCommand(flags: Flags, signal: AbortSignal): Promise<void> {
  const options = parseOptions(flags);
  const { isJson, metricsUrl, p99BoundMs } = options;
  const writeProgress = isJson ? () => {} : writeError;
  const metrics = metricsUrl === undefined ? undefined : await openServerMetrics(metricsUrl);
  const context = { metrics, signal, writeProgress, onUser: reportUsers(writeProgress) };
  try {
    if (p99BoundMs === null) await measure(options, context);
    else await searchCapacity({ ...options, p99BoundMs }, context);
  } finally {
    metrics?.stop();
  }
}

async function measure(options: Options, context: Context): Promise<void> {
  const { asked, isJson, assertions } = options;
  const { writeProgress } = context;
  const { isTTY: isTerminal } = process.stderr;
  // A terminal can have 0 columns: their number is then unknown.
  const columns = process.stderr.columns || undefined;
  const view = createLiveView({ write: writeProgress, isTerminal, columns, asked });
  // A forced exit must restore the terminal, too.
  process.once("exit", view.end);
  const onSecond = view.update;
  const run = await runLoad({ ...options, ...context, onSecond }).finally(view.end);
  const report = { ...run, command: commandOf(options), assertions: checkAssertions(assertions, run) };
  const renderers = { text: describeRun, page: renderRunPage, junit: renderJunit };
  await publish(options, report, writeProgress, renderers);
  rejectFailure(report, isJson);
}

/** @throws {CliError} 130 after an interruption, 69 without any response, 1 after a failed assertion */
function rejectFailure(report: RunReport, isJson: boolean): void {
  if (report.outcome === "interrupted") throw new CliError("", EXIT.interrupted);
  const unanswered = unansweredOf(report);
  if (unanswered !== null) throw unavailable(unanswered);
  const failed = report.assertions.filter(({ passed }) => !passed);
  if (failed.length === 0) return;
  const count = `${failed.length} of ${report.assertions.length} assertions failed.`;
  // The text contains the results, and JSON is rarely displayed.
  throw new CliError(isJson ? failed.map(describeAssertion).join("\n") : count, EXIT.failed);
}

async function searchCapacity(
  options: Options & { readonly p99BoundMs: number },
  context: Context,
): Promise<void> {
  const { writeProgress, signal } = context;
  const result = await findCapacity({
    ...options,
    ...context,
    onProgress: (progress) => writeProgress(`${describeSearch(progress)}\n`),
  });
  // The terminal has printed ^C.
  if (signal.aborted && process.stderr.isTTY) writeProgress("\n");
  const report = { ...result, command: commandOf(options) };
  await publish(options, report, writeProgress, { text: describeCapacity, page: renderCapacityPage });
  if (signal.aborted) throw new CliError("", EXIT.interrupted);
}

interface Renderers<Report> {
  readonly text: (report: Report) => string;
  readonly page: (report: Report) => Promise<string>;
  readonly junit?: (report: Report) => string;
}

/** @throws {CliError} with exit code 69 if a file cannot be written */
async function publish<Report>(
  { isJson, reportPath, junitPath }: Options,
  report: Report,
  writeProgress: Context["writeProgress"],
  { text, page, junit }: Renderers<Report>,
): Promise<void> {
  // Files first: Ctrl-C also ends the reader of a pipe, and a failed write to it ends this process.
  try {
    // JSON first: it must not depend on the page.
    if (reportPath !== null) {
      await writeFile(`${reportPath}.json`, `${JSON.stringify(report, null, 2)}\n`);
      await writeFile(`${reportPath}.html`, await page(report));
    }
    if (junitPath !== null && junit) await writeFile(junitPath, junit(report));
  } finally {
    await write(isJson ? `${JSON.stringify(report)}\n` : text(report));
  }
  if (reportPath !== null) writeProgress(`Report: ${reportPath}.html and ${reportPath}.json\n`);
  if (junitPath !== null) writeProgress(`JUnit: ${junitPath}\n`);
}

async function writeFile(path: string, text: string): Promise<void> {
  try {
    await Bun.write(path, text);
  } catch (error) {
    throw unavailable(`Cannot write the report: ${describeError(error)}`);
  }
}

const USERS_INTERVAL_MS = 1000;

/** Reports the number of created users once a second. */
function reportUsers(writeProgress: (text: string) => void): Context["onUser"] {
  let due = performance.now() + USERS_INTERVAL_MS;
  return (done, total) => {
    if (performance.now() < due) return;
    due = performance.now() + USERS_INTERVAL_MS;
    writeProgress(`Users: ${done} of ${total}\n`);
  };
}
