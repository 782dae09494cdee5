/**
 * Arguments → one command → exit code. Only this file handles signals and calls exit. Imports between the folders go in one
 * direction: cli → report → plan → capacity → measure → load.
 */
import { exitOnOutputError } from "@latchkey/cli";
import { run } from "./cli/program.ts";

const interruption = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // Once: the default action of a second signal ends the process.
  process.once(name, () => interruption.abort());
}

exitOnOutputError();
process.exit(await run(process.argv.slice(2), interruption.signal));
