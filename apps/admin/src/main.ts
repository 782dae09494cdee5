/** Arguments and environment → one command → exit code. The only reader of the environment, and the only caller of exit. */
import { EXIT } from "./failures.ts";
import { run } from "./program.ts";

process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
  // A reader that has seen enough, such as `head`, is no failure.
  if (code === "EPIPE") process.exit(EXIT.done);
  process.stderr.write(`Standard output cannot be written (${code}).\n`);
  process.exit(EXIT.refused);
});

process.exit(await run(process.argv.slice(2), process.env));
