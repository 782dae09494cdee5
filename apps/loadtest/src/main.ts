/**
 * Runs one command and exits with the exit code of the command. Only this file handles signals and calls `process.exit`. Imports
 * between the folders go in one direction: cli → report → capacity → measure → load.
 */
import { EXIT, exitOnOutputError } from "@latchkey/cli";
import { run } from "./cli/program.ts";

/** `bun run` sends Ctrl-C twice within a millisecond. A second signal forces an exit only after this time. */
const DUPLICATE_SIGNAL_MS = 500;

const interruption = new AbortController();
let interruptedAt = Number.POSITIVE_INFINITY;
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.on(name, () => {
    if (performance.now() - interruptedAt >= DUPLICATE_SIGNAL_MS) process.exit(EXIT.interrupted);
    if (interruption.signal.aborted) return;
    interruptedAt = performance.now();
    interruption.abort();
  });
}

exitOnOutputError();
process.exit(await run(process.argv.slice(2), interruption.signal));
