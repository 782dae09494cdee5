/** Runs the load tester as operators do: in a separate process. */
import { join } from "node:path";

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
