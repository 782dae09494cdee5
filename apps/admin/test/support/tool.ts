/** Runs the tool: in the process of the test, or as operators do, in a process of its own or on a terminal. */
import { readdirSync, readlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { type Database, openDatabase } from "@latchkey/database";
import { captureOutput, startOnTerminal } from "@latchkey/testing/command-line";
import { adminProgram } from "@latchkey/testing/program-bundles";
import { runProcess } from "@latchkey/testing/run-process";
import { runtimeSettings } from "@latchkey/testing/runtime-settings";
import { run } from "../../src/program.ts";

/** A bundle in the default run. */
export const MAIN = adminProgram();

interface RunOptions {
  /** All variables; none is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** Content of standard input. @default nothing, for commands that do not read it */
  readonly input?: string | Uint8Array | undefined;
}

/** Runs one command line in this process. Not concurrently, because it captures the output. */
export const runTool = (args: readonly string[], { env = {}, input = "" }: RunOptions = {}) =>
  captureOutput(() => run(args, env), input);

/** Whether this process has one of the files of embedded databases open. */
const isOpen = (paths: ReadonlySet<string>): boolean =>
  readdirSync("/dev/fd").some((fd) => {
    try {
      return paths.has(readlinkSync(`/dev/fd/${fd}`));
    } catch {
      return false;
    }
  });

const MAX_COLLECTIONS = 100;

/** Collects garbage after it has overwritten the stack, in which the collector otherwise finds pointers to closed connections. */
function collect(depth: number): number {
  if (depth > 0) return 1 + collect(depth - 1);
  Bun.gc(true);
  return 0;
}

/** Waits until this process has closed the files: libsql keeps a file and its locks until the statements of the connection are collected. */
async function untilClosed(urls: readonly string[]): Promise<void> {
  const paths = new Set(
    urls.filter((url) => url.startsWith("file:")).map((url) => url.slice("file:".length)),
  );
  for (let count = 0; count < MAX_COLLECTIONS && isOpen(paths); count++) {
    await Bun.sleep(1);
    collect(count);
  }
}

/** Runs one command line in this process until it has closed its embedded databases. */
export async function runToolAlone(args: readonly string[], options: RunOptions = {}) {
  const result = await runTool(args, options);
  await untilClosed([options.env?.DATABASE_URL ?? "", ...args]);
  return result;
}

/** Reads from a database and closes it, so that the tool can then have it alone. */
export async function readAlone<T>(url: string, read: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url });
  const result = await read(database).finally(() => database.close());
  await untilClosed([url]);
  return result;
}

/** Runs one command line in a process of its own: for what depends on pipes, or on the end of a process. */
export const startTool = (args: readonly string[], { env = {}, input = "" }: RunOptions = {}) =>
  runProcess([process.execPath, MAIN, ...args], {
    cwd: tmpdir(),
    env: { ...runtimeSettings(), ...env },
    stdin: Buffer.from(input),
  });

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
    env: { ...runtimeSettings(), ...env, TERM: "xterm" },
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
