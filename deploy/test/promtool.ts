/** Runs promtool, which evaluates rules as Prometheus does. */
import { testWith } from "./compose/balancer.ts";

export const promtoolTest = testWith("promtool");

export function promtool(...args: readonly string[]) {
  const child = Bun.spawnSync(["promtool", ...args]);
  return { code: child.exitCode, output: `${child.stdout}${child.stderr}` };
}
