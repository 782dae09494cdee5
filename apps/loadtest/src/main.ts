/** Arguments → one command → exit code. The only place that hears signals, and the only caller of exit. */

import { run } from "./cli/program.ts";
import { EXIT } from "./errors.ts";

const interruption = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // Once: a second signal ends the process as if nobody listened.
  process.once(name, () => interruption.abort());
}

process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, is no failure.
  if (code === "EPIPE") process.exit(EXIT.done);
  process.stderr.write(`Standard output cannot be written (${code}).\n`);
  process.exit(EXIT.failed);
});

process.exit(await run(process.argv.slice(2), interruption.signal));
