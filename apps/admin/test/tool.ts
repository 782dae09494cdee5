/** The tool as its users have it: a process of its own, with arguments, an environment and three streams. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MAIN = join(import.meta.dir, "../src/main.ts");

export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** Variables beside PATH, without which nothing of this process is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; without it, it is empty. */
  readonly input?: string | Uint8Array;
  readonly cwd?: string;
}

/** Runs one command line to its end. */
export async function runTool(
  args: readonly string[],
  { env, input, cwd = tmpdir() }: RunOptions = {},
): Promise<Outcome> {
  await using child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd,
    env: environment(env),
    stdin: input === undefined ? "ignore" : Buffer.from(input),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

/** What is typed once a text has appeared on the terminal. */
export type Keystrokes = readonly [after: string, keys: string];

/** Runs one command line on a terminal; all that it shows, echo included, is `screen`. */
export async function runOnTerminal(
  args: readonly string[],
  keystrokes: readonly Keystrokes[],
  { env }: Pick<RunOptions, "env"> = {},
): Promise<{ readonly code: number; readonly screen: string }> {
  const decoder = new TextDecoder();
  const left = [...keystrokes];
  let screen = "";
  let seen = 0;
  await using child = Bun.spawn([process.execPath, MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...environment(env), TERM: "xterm" },
    terminal: {
      cols: 120,
      rows: 40,
      data(terminal, bytes) {
        screen += decoder.decode(bytes, { stream: true });
        const [after, keys] = left[0] ?? [];
        const at = after === undefined ? -1 : screen.indexOf(after, seen);
        if (after === undefined || keys === undefined || at === -1) return;
        seen = at + after.length;
        left.shift();
        terminal.write(keys);
      },
    },
  });
  return { code: await child.exited, screen };
}

/** A shell's command line in which `"$@"` is the tool with these arguments. */
export async function runInShell(
  script: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Outcome> {
  await using child = Bun.spawn(["sh", "-c", script, "sh", process.execPath, MAIN, ...args], {
    cwd: tmpdir(),
    env: environment(env),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, stdout, stderr };
}

const environment = (env: Readonly<Record<string, string>> = {}) => ({
  PATH: process.env.PATH ?? "",
  ...env,
});

export interface Folder extends AsyncDisposable {
  readonly path: string;
}

export async function openFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), "latchkey-admin-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** One sentence, or several of them, on a line of its own; nothing of a stack or of a driver's statement. */
export function expectSentence(stderr: string): void {
  if (/^[A-Z][^\n]*[.?]\n$/.test(stderr) && !/\bat \S+ \(|select |insert /.test(stderr)) return;
  throw new Error(`Not one sentence: ${JSON.stringify(stderr)}`);
}
