/** The admin tool in a process of its own. */
import { join } from "node:path";
import { CHECKOUT } from "@latchkey/testing/repository";

/** @param timeout milliseconds until it is killed. @default never: it must succeed */
export async function runTool(databaseUrl: string, args: readonly string[], timeout?: number) {
  const startedMs = performance.now();
  const child = Bun.spawn([process.execPath, join(CHECKOUT, "apps/admin/src/main.ts"), ...args], {
    env: { ...process.env, DATABASE_URL: databaseUrl },
    stdio: ["ignore", "pipe", "pipe"],
    killSignal: "SIGKILL",
    ...(timeout !== undefined && { timeout }),
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0 && timeout === undefined) throw new Error(errors);
  const seconds = (performance.now() - startedMs) / 1000;
  return { output, seconds, peakMb: (child.resourceUsage()?.maxRSS ?? Number.NaN) / 1e6 };
}
