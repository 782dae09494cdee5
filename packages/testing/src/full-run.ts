/** Selects the tests that only the full run includes: `bun run test --full`, and every run with `CI` set. */
import type { describe, test } from "bun:test";

export const isFullRun = Boolean(process.env.CI || process.env.LATCHKEY_TEST_FULL);

/** Returns a `test` or `describe` whose tests the default run skips: `inFullRun(describe)("the image", …)`. */
export function inFullRun(runner: typeof test): typeof test;
export function inFullRun(runner: typeof describe): typeof describe;
export function inFullRun(runner: typeof test | typeof describe) {
  return isFullRun ? runner : runner.skip;
}
