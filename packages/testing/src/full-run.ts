/** Selects the tests that only the full run includes: `bun run test --full`, and every run with `CI` set. */
import type { describe, test } from "bun:test";

export const isFullRun = Boolean(process.env.CI || process.env.LATCHKEY_TEST_FULL);

/** Ends the name of what the default run leaves out: the runner tells it from what lacks a program by this text alone. */
const LEFT_OUT = " [full run]";

type Runner = typeof test | typeof describe;
type Declare = (name: string, ...body: readonly unknown[]) => void;
interface Skipped extends Declare {
  each(cases: readonly unknown[]): Declare;
}
/** What both runs offer: a further `skipIf` belongs in the argument of `inFullRun`. */
export interface FullRun<R extends Runner> {
  (...declaration: Parameters<R>): void;
  readonly each: R["each"];
}

/** Both are functions of a name and a body; the types of `bun:test` have no common supertype. */
const asSkipped = (runner: unknown) => runner as Skipped;
const asFullRun = (runner: unknown) => runner as FullRun<Runner>;

/** Bun throws for `.skip` of a runner that skips already, such as `test.skipIf(true)`. */
function skipOf(runner: Runner): Skipped {
  try {
    return asSkipped(runner.skip);
  } catch {
    return asSkipped(runner);
  }
}

const marked =
  (declare: Declare): Declare =>
  (name, ...body) =>
    declare(`${name}${LEFT_OUT}`, ...body);

/** Returns a `test` or `describe` whose tests the default run skips: `inFullRun(describe)("the image", …)`. */
export function inFullRun(runner: typeof test): FullRun<typeof test>;
export function inFullRun(runner: typeof describe): FullRun<typeof describe>;
export function inFullRun(runner: Runner): FullRun<Runner> {
  if (isFullRun) return asFullRun(runner);
  const skip = skipOf(runner);
  return asFullRun(
    Object.assign(marked(skip), { each: (cases: readonly unknown[]) => marked(skip.each(cases)) }),
  );
}
