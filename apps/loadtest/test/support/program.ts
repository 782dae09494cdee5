/** Runs the load tester as operators do: in a separate process. */
import { join } from "node:path";
import { ROOT } from "@latchkey/testing/repository";

const MAIN = join(import.meta.dir, "../../src/main.ts");

export function start(...args: readonly string[]) {
  const child = Bun.spawn([process.execPath, MAIN, ...args], { stdout: "pipe", stderr: "pipe" });
  const ended = async () => {
    const [stdout, stderr] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
    ]);
    return { code: await child.exited, stdout, stderr };
  };
  return { ended: ended(), signal: (name: NodeJS.Signals) => child.kill(name) };
}

export const run = (...args: readonly string[]) => start(...args).ended;

/** Runs `bun run loadtest` on a terminal of 80 columns. */
export function startOnTerminal(...args: readonly string[]) {
  let output = "";
  let expected: { readonly text: string; readonly resolve: () => void } | null = null;
  const decoder = new TextDecoder();
  const child = Bun.spawn([process.execPath, "run", "loadtest", ...args], {
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
  return {
    /** Resolves when the output contains the text. Call it before the text can appear. */
    printed: (text: string) => new Promise<void>((resolve) => (expected = { text, resolve })),
    pressCtrlC: () => child.terminal?.write("\x03"),
    ended: child.exited.then((code) => ({ code, output })),
  };
}
