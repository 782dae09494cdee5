/** What the commands do once they are understood: run, show progress, report, judge. Standard output gets the report alone. */

import { findCapacity } from "../capacity/find-capacity.ts";
import { EXIT } from "../errors.ts";
import { judge } from "../measure/assertions.ts";
import { runLoad } from "../measure/run.ts";
import { openServerMetrics, type ServerMetrics } from "../measure/server-metrics.ts";
import { renderCapacityPage, renderPage } from "../report/page.ts";
import { writeReport } from "../report/report-files.ts";
import { describeCapacity, describeRun } from "../report/text.ts";
import { createLiveView } from "./live-view.ts";
import { type Flags, type Options, parseOptions } from "./options.ts";
import { noteAccounts } from "./seed-progress.ts";

type Say = (text: string) => void;

export interface CommandOptions {
  readonly flags: Flags;
  /** SIGINT or SIGTERM came. */
  readonly signal: AbortSignal;
  /** Takes results. */
  readonly write: Say;
  /** Takes progress, and what failed. */
  readonly note: Say;
}

/** @returns the exit code. @throws {LoadtestError} */
export async function driveCommand({ flags, ...out }: CommandOptions): Promise<number> {
  const options = parseOptions(flags);
  const note: Say = options.isJson ? () => {} : out.note;
  const { metricsUrl, p99BoundMs } = options;
  const metrics = metricsUrl === undefined ? undefined : await openServerMetrics(metricsUrl);
  try {
    return p99BoundMs === null
      ? await measure(options, metrics, { ...out, progress: note })
      : await search(options, metrics, { ...out, progress: note, p99BoundMs });
  } finally {
    metrics?.stop();
  }
}

interface Outputs extends Omit<CommandOptions, "flags"> {
  readonly progress: Say;
}

async function measure(options: Options, metrics: ServerMetrics | undefined, out: Outputs): Promise<number> {
  const { asked, isJson, assertions, reportPath } = options;
  const view = createLiveView({
    stream: { write: out.progress },
    isTerminal: process.stderr.isTTY,
    columns: process.stderr.columns,
    asked,
  });
  try {
    const run = await runLoad({
      ...options,
      metrics,
      signal: out.signal,
      onAdvance: noteAccounts(out.progress),
      onSecond: (progress) => view.update(progress),
    });
    view.end();
    out.write(isJson ? `${JSON.stringify(run)}\n` : describeRun(run));
    if (reportPath !== null) out.progress(await writeReport(reportPath, run, await renderPage(run)));
    if (run.outcome === "interrupted") return EXIT.interrupted;
    const failures = judge(assertions, run);
    for (const failure of failures) out.note(`${failure}\n`);
    return failures.length > 0 ? EXIT.failed : EXIT.done;
  } finally {
    view.end();
  }
}

interface SearchOutputs extends Outputs {
  readonly p99BoundMs: number;
}

async function search(
  options: Options,
  metrics: ServerMetrics | undefined,
  out: SearchOutputs,
): Promise<number> {
  const { isJson, reportPath } = options;
  const report = await findCapacity({
    ...options,
    metrics,
    signal: out.signal,
    p99BoundMs: out.p99BoundMs,
    onAdvance: noteAccounts(out.progress),
    onPoint: ({ concurrency, perSecond, p50 }) =>
      out.progress(`${concurrency} at once: ${perSecond.toFixed(1)} logins/s, p50 ${p50.toFixed(0)} ms\n`),
    onStep: ({ ratePerSecond, p99, passed }) =>
      out.progress(
        `${ratePerSecond.toFixed(1)}/s asked: p99 ${p99?.toFixed(0) ?? "–"} ms, ${passed ? "held" : "not held"}\n`,
      ),
  });
  out.write(isJson ? `${JSON.stringify(report)}\n` : describeCapacity(report));
  if (reportPath !== null)
    out.progress(await writeReport(reportPath, report, await renderCapacityPage(report)));
  return out.signal.aborted ? EXIT.interrupted : EXIT.done;
}
