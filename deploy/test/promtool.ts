/** Runs promtool, which evaluates rules as Prometheus does. */
import { test } from "bun:test";

const isInstalled = Bun.which("promtool") !== null;
if (!isInstalled) process.stderr.write("promtool is not installed: rules and queries are not tested.\n");

/** Skipped without promtool, except in CI, where it fails. */
export const promtoolTest = test.skipIf(!isInstalled && !process.env.CI);

export function promtool(...args: readonly string[]) {
  const child = Bun.spawnSync(["promtool", ...args]);
  return { code: child.exitCode, output: `${child.stdout}${child.stderr}` };
}
