/** A run or a capacity search: progress, report and assertions. Standard output contains only the report. */
import { CliError, confirm, describeError, EXIT, unavailable, write, writeError } from "@latchkey/cli";
import { findCapacity, type SearchStep } from "../capacity/find-capacity.ts";
import { withUsers } from "../load/prepare-requests.ts";
import { checkAssertions } from "../measure/assertions.ts";
import { type RunLoadOptions, runLoad } from "../measure/run.ts";
import { openServerMetrics } from "../measure/server-metrics.ts";
import { summarizeCapacity } from "../report/capacity-summary.ts";
import { renderPage } from "../report/page.ts";
import { summarizeRun, unansweredOf } from "../report/run-summary.ts";
import { describeAssertion, type Summary } from "../report/summary.ts";
import { describe, describeStep } from "../report/text.ts";
import { type Flags, type Options, parseOptions } from "./options.ts";
import { createProgressLine } from "./progress-line.ts";

interface Context extends Pick<RunLoadOptions, "signal" | "metrics" | "next"> {
  /** The shell command that repeats the run or the capacity search. */
  readonly command: string;
  readonly writeProgress: (text: string) => void;
}

const USERS_INTERVAL_MS = 1000;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * @throws {CliError} with exit code 1 if an assertion fails or the load is declined, 64 for an invalid option, 69 if no request
 * is answered or a resource is unavailable, 130 after an interruption
 */
export async function runLoadCommand(flags: Flags, invocation: Pick<Context, "command" | "signal">) {
  const options = parseOptions(flags);
  const { isJson, metricsUrl, p99BoundMs } = options;
  const { url } = options.asked;
  if (!options.isConfirmed && !LOOPBACK.test(new URL(url).hostname))
    await confirm(`Send load to ${url}?`, "No load was sent.");
  const writeProgress = isJson ? () => {} : writeError;
  const metrics = metricsUrl === undefined ? undefined : await openServerMetrics(metricsUrl);
  let reportAt = performance.now() + USERS_INTERVAL_MS;
  const onUser = (done: number, total: number): void => {
    if (performance.now() < reportAt) return;
    reportAt = performance.now() + USERS_INTERVAL_MS;
    writeProgress(`Users: ${done} of ${total}\n`);
  };
  try {
    await withUsers({ ...options, ...invocation, onUser }, async (next) => {
      const context = { ...invocation, metrics, writeProgress, next };
      if (p99BoundMs === null) await measure(options, context);
      else await searchCapacity({ ...options, p99BoundMs }, context);
    });
  } finally {
    metrics?.stop();
  }
}

/** @throws {CliError} with exit code 130 after an interruption, 69 if no request was answered, 1 if an assertion failed */
async function measure(options: Options, context: Context): Promise<void> {
  const { asked, isJson } = options;
  const line = createProgressLine(asked, context.writeProgress, process.stderr);
  const run = await runLoad({ ...options, ...context, onSecond: line.update }).finally(line.end);
  const assertions = checkAssertions(options.assertions, run);
  const report = { ...run, command: context.command, assertions };
  await publish(options, report, summarizeRun(report));
  if (run.outcome === "interrupted") throw new CliError("", EXIT.interrupted);
  const unanswered = unansweredOf(run);
  if (unanswered !== null) throw unavailable(unanswered);
  const failed = assertions.filter(({ passed }) => !passed);
  if (failed.length === 0) return;
  // The text report already contains the result of each assertion. With JSON, the message lists the failed assertions, because
  // the report is rarely displayed.
  const count = `${failed.length} of ${assertions.length} assertions failed.`;
  throw new CliError(isJson ? failed.map(describeAssertion).join("\n") : count, EXIT.failed);
}

/** @throws {CliError} with exit code 130 after an interruption */
async function searchCapacity(options: Options & { readonly p99BoundMs: number }, context: Context) {
  const { command, writeProgress, signal } = context;
  const onStep = (step: SearchStep) => writeProgress(`${describeStep(step, options.p99BoundMs)}\n`);
  const report = { ...(await findCapacity({ ...options, ...context, onStep })), command };
  // Ends the line in which the terminal has printed `^C`.
  if (signal.aborted && process.stderr.isTTY) writeProgress("\n");
  await publish(options, report, summarizeCapacity(report));
  if (signal.aborted) throw new CliError("", EXIT.interrupted);
}

/**
 * Writes the files before standard output. If standard output is a pipe, Ctrl-C ends the reader of the pipe, and the next write
 * to the pipe ends this process.
 * @throws {CliError} with exit code 69 if a file cannot be written; the report is still printed
 */
async function publish({ isJson, reportPath }: Options, report: object, summary: Summary): Promise<void> {
  const files = reportPath !== null && {
    [`${reportPath}.json`]: `${JSON.stringify(report, null, 2)}\n`,
    [`${reportPath}.html`]: renderPage(summary),
  };
  try {
    for (const [path, text] of Object.entries(files)) await Bun.write(path, text);
  } catch (error) {
    throw unavailable(`Cannot write the report: ${describeError(error)}`);
  } finally {
    await write(isJson ? `${JSON.stringify(report)}\n` : describe(summary));
  }
  if (!isJson) for (const path of Object.keys(files)) writeError(`Written: ${path}\n`);
}
