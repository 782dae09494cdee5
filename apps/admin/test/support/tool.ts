/** Runs the tool: in this process, or as operators do where standard input, the terminal or the working directory matters. */
import { spyOn } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../src/program.ts";

export const MAIN = join(import.meta.dir, "../../src/main.ts");

interface RunOptions {
  /** All variables; none is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of standard input, also empty: starts a process. @default nothing, for commands that do not read it */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
}

/** Runs one command line. Not concurrently: without input, it captures the output of this process. */
export const runTool = (args: readonly string[], options: RunOptions = {}) =>
  options.input === undefined && options.cwd === undefined
    ? runHere(args, options)
    : runProcess(args, options);

async function runHere(args: readonly string[], { env = {} }: RunOptions) {
  const output = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    spyOn(process[name], "write").mockImplementation((text, done) => {
      output[name] += text;
      if (typeof done === "function") done();
      return true;
    }),
  );
  try {
    return { code: await run(args, env), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

async function runProcess(args: readonly string[], { env = {}, input, cwd = tmpdir() }: RunOptions) {
  const stdin = input === undefined ? "ignore" : Buffer.from(input);
  const command = [process.execPath, MAIN, ...args];
  await using child = Bun.spawn(command, { cwd, env, stdin, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Keys to type after a text has appeared on the terminal. */
export type Keystrokes = readonly [after: string, keys: string];

/** Runs one command line on a terminal. `screen` is all of its output, including the echo. */
export async function runOnTerminal(
  args: readonly string[],
  keystrokes: readonly Keystrokes[],
  env: Readonly<Record<string, string>>,
) {
  const decoder = new TextDecoder();
  const remaining = [...keystrokes];
  let screen = "";
  let seen = 0;
  await using child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...env, TERM: "xterm" },
    terminal: {
      cols: 120,
      rows: 40,
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        const [after, keys] = remaining[0] ?? [];
        const at = after === undefined ? -1 : screen.indexOf(after, seen);
        if (after === undefined || keys === undefined || at === -1) return;
        seen = at + after.length;
        remaining.shift();
        terminal.write(keys);
      },
    },
  });
  return { code: await child.exited, screen };
}

/** Expects one line of sentences, which may begin with an option, without a stack or an SQL statement. */
export function expectSentence(stderr: string): void {
  if (/^([A-Z]|--[a-z])[^\n]*[.?]\n$/.test(stderr) && !/\bat \S+ \(|select |insert /.test(stderr)) return;
  throw new Error(`Not one sentence: ${JSON.stringify(stderr)}`);
}
