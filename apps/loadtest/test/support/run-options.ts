/** Runs as the command line does, without a report. */
import { withUsers } from "../../src/load/prepare-requests.ts";
import type { RunOptions } from "../../src/load/scenarios.ts";
import { type Run, type RunLoadOptions, runLoad } from "../../src/measure/run.ts";

/** Without an interruption. */
export const LIMITS = { timeoutSeconds: 10, signal: new AbortController().signal };

/** Creates the users, runs, and deletes the users. */
export function runWithUsers(
  changes: Omit<RunLoadOptions, "next" | keyof typeof LIMITS> & Partial<typeof LIMITS>,
): Promise<Run> {
  const options = { ...LIMITS, ...changes };
  return withUsers(options, (next) => runLoad({ ...options, next }));
}

export const runOptionsOf = (asked: Partial<RunOptions> & Pick<RunOptions, "url">): RunOptions => ({
  scenario: "login",
  load: { kind: "closed", concurrency: 1 },
  durationSeconds: 1,
  users: 1,
  unknownPercent: 0,
  wrongPercent: 0,
  seed: 1,
  ...asked,
});
