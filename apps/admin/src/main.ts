/** Runs one command and exits with its exit code. Only this file reads the environment and calls `process.exit`. */
import { exitOnOutputError } from "@latchkey/cli";
import { run } from "./program.ts";

exitOnOutputError();
process.exit(await run(process.argv.slice(2), process.env));
