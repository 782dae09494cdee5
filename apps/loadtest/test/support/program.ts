/** Runs the load tester in this process, or in a separate one where signals or the terminal matter. */
import { join } from "node:path";
import { captureOutput, startOnTerminal as startProgram } from "@latchkey/testing/command-line";
import { ROOT } from "@latchkey/testing/repository";
import { run as runProgram } from "../../src/cli/program.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** @param line arguments without spaces, separated by spaces */
const wordsOf = (line: string): readonly string[] => line.split(" ").filter((word) => word !== "");

/** In this process. Not concurrently: it captures the output of the whole process. */
export const run = (line: string) =>
  captureOutput(() => runProgram(wordsOf(line), new AbortController().signal));

export function start(line: string) {
  const child = Bun.spawn([process.execPath, MAIN, ...wordsOf(line)], { stdout: "pipe", stderr: "pipe" });
  const { stdout, exited } = child;
  const [progress, stderr] = child.stderr.tee();
  return {
    stdout,
    /** Standard error, as `ended` returns it. */
    progress,
    exited,
    ended: async () => ({
      code: await exited,
      stdout: await stdout.text(),
      stderr: await stderr.text(),
    }),
    signal: (name: NodeJS.Signals) => child.kill(name),
  };
}

/** Runs `bun run loadtest` on a terminal. */
export const startOnTerminal = (line: string) =>
  startProgram([process.execPath, "run", "loadtest", ...wordsOf(line)], { cwd: ROOT, cols: 80 });
