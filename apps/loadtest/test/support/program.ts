/** Runs the load tester in this process, or in a separate one where signals or the terminal matter. */
import { spyOn } from "bun:test";
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";
import { run as runProgram } from "../../src/cli/program.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

export const CTRL_C = "\x03";

/** @param line arguments without spaces, separated by spaces */
const wordsOf = (line: string): readonly string[] => line.split(" ").filter((word) => word !== "");

/** In this process. Not concurrently: it captures the output of the whole process. */
export async function run(line: string) {
  const output = { stdout: "", stderr: "" };
  const capture = (name: "stdout" | "stderr") =>
    spyOn(process[name], "write").mockImplementation((text, done) => {
      output[name] += text;
      if (typeof done === "function") done();
      return true;
    });
  const spies = [capture("stdout"), capture("stderr")];
  try {
    return { code: await runProgram(wordsOf(line), new AbortController().signal), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

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

/** Runs `bun run loadtest` on a terminal of 80 columns. */
export function startOnTerminal(line: string) {
  let output = "";
  let expected: ({ readonly text: string } & PromiseWithResolvers<void>) | null = null;
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, "run", "loadtest", ...wordsOf(line)], {
    cwd: ROOT,
    terminal: {
      cols: 80,
      rows: 40,
      data: (_, bytes) => {
        output += decoder.decode(bytes, { stream: true });
        if (expected !== null && output.includes(expected.text)) expected.resolve();
      },
    },
  });
  void child.exited.then((code) => expected?.reject(new Error(`It exited with ${code}: ${output}`)));
  return {
    /** Resolves when the output contains the text, and rejects if the program exits before. Call it before the text can appear. */
    printed: (text: string): Promise<void> => {
      expected = { text, ...Promise.withResolvers<void>() };
      return expected.promise;
    },
    type: (keys: string) => child.terminal?.write(keys),
    ended: async () => ({ code: await child.exited, output }),
  };
}
