/** Runs the tool: in this process, or as operators do where standard input or the terminal matters. */
import { tmpdir } from "node:os";
import { join } from "node:path";
import { captureOutput, startOnTerminal } from "@latchkey/testing/command-line";
import { runProcess } from "@latchkey/testing/run-process";
import { run } from "../../src/program.ts";

export const MAIN = join(import.meta.dir, "../../src/main.ts");

interface RunOptions {
  /** All variables; none is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of standard input, also empty: starts a process. @default nothing, for commands that do not read it */
  readonly input?: string | Uint8Array;
}

/** Runs one command line. Not concurrently: without input, it captures the output of this process. */
export const runTool = (args: readonly string[], { env = {}, input }: RunOptions = {}) =>
  input === undefined
    ? captureOutput(() => run(args, env))
    : runProcess([process.execPath, MAIN, ...args], { cwd: tmpdir(), env, stdin: Buffer.from(input) });

/** Keys to type after a text has appeared on the terminal. */
export type Keystrokes = readonly [after: string, keys: string];

/** Runs one command line on a terminal. `screen` is all of its output, including the echo. */
export async function runOnTerminal(
  args: readonly string[],
  keystrokes: readonly Keystrokes[],
  env: Readonly<Record<string, string>>,
) {
  const command = [process.execPath, MAIN, ...args];
  await using terminal = startOnTerminal(command, {
    cols: 120,
    cwd: tmpdir(),
    env: { ...env, TERM: "xterm" },
  });
  for (const [after, keys] of keystrokes) {
    await terminal.printed(after);
    terminal.type(keys);
  }
  const { code, output: screen } = await terminal.ended();
  return { code, screen };
}

/** Expects one line of sentences, which may begin with an option, without a stack or an SQL statement. */
export function expectSentence(stderr: string): void {
  if (/^([A-Z]|--[a-z])[^\n]*[.?]\n$/.test(stderr) && !/\bat \S+ \(|select |insert /.test(stderr)) return;
  throw new Error(`Not one sentence: ${JSON.stringify(stderr)}`);
}
