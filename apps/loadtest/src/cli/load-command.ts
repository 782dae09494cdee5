/** Executes the load test commands: run, progress, report, assertions. Standard output contains only the report. */
import { CliError, EXIT, write, writeError } from "@latchkey/cli";
import { findCapacity } from "../capacity/find-capacity.ts";
import { checkAssertions } from "../measure/assertions.ts";
import { runLoad } from "../measure/run.ts";
import { openServerMetrics, type ServerMetrics } from "../measure/server-metrics.ts";
import { renderCapacityPage, renderRunPage, writeReport } from "../report/page.ts";
import { describeCapacity, describeRun } from "../report/text.ts";
import { createLiveView } from "./live-view.ts";
import { type Flags, type Options, parseOptions } from "./options.ts";

interface Context {
  readonly metrics: ServerMetrics | undefined;
  readonly signal: AbortSignal;
  readonly writeProgress: (text: string) => void;
  readonly onUser: (done: number, total: number) => void;
}

/** @throws {CliError} 1 if an assertion fails, 130 if the signal came, and others */
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
  const { asked, isJson, assertions, reportPath } = options;
  const { isTTY: isTerminal, columns } = process.stderr;
  const view = createLiveView({ stream: { write: context.writeProgress }, isTerminal, columns, asked });
  try {
    const run = await runLoad({ ...options, ...context, onSecond: (progress) => view.update(progress) });
    view.end();
    await write(isJson ? `${JSON.stringify(run)}\n` : describeRun(run));
    if (reportPath !== null)
      context.writeProgress(await writeReport(reportPath, run, await renderRunPage(run)));
    if (run.outcome === "interrupted") throw new CliError("", EXIT.interrupted);
    const failures = checkAssertions(assertions, run);
    if (failures.length > 0) throw new CliError(failures.join("\n"), EXIT.failed);
  } finally {
    view.end();
  }
}

async function searchCapacity(
  options: Options & { readonly p99BoundMs: number },
  context: Context,
): Promise<void> {
  const { isJson, reportPath } = options;
  const { writeProgress, signal } = context;
  const report = await findCapacity({
    ...options,
    ...context,
    onPoint: ({ concurrency, perSecond, p50 }) =>
      writeProgress(`${concurrency} clients: ${perSecond.toFixed(1)} logins/s, p50 ${p50.toFixed(0)} ms\n`),
    onStep: ({ ratePerSecond, p99, passed }) =>
      writeProgress(
        `${ratePerSecond.toFixed(1)} logins/s offered: p99 ${p99?.toFixed(0) ?? "–"} ms, ${passed ? "passed" : "failed"}\n`,
      ),
  });
  await write(isJson ? `${JSON.stringify(report)}\n` : describeCapacity(report));
  if (reportPath !== null)
    writeProgress(await writeReport(reportPath, report, await renderCapacityPage(report)));
  if (signal.aborted) throw new CliError("", EXIT.interrupted);
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
