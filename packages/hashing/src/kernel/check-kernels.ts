/**
 * Determines which native kernels run on this machine. A kernel is used only after its known-answer test has passed in a
 * child process, so that an illegal instruction cannot crash the service.
 */
import { join } from "node:path";
import type { KernelVariant, ListedVariant } from "./addon.ts";
import { BUILD_DIRECTORY, findAddonFile } from "./addon-file.ts";
import type { KnownAnswerResult } from "./known-answer-test.ts";

/** A kernel with at least one variant that cannot run. */
export interface UnavailableKernel {
  readonly family: string;
  /** `unsupported` by this processor, or `failed` its known-answer test although the processor supports it. */
  readonly status: "unsupported" | "failed";
  readonly reason: string;
}

export type NativeStatus =
  | {
      readonly available: true;
      readonly path: string;
      readonly variants: readonly KernelVariant[];
      readonly unavailable: readonly UnavailableKernel[];
    }
  | { readonly available: false; readonly reason: string };

/** A child takes about 30 ms; a kernel that never returns counts as crashed. */
const CHILD_TIMEOUT_MS = 20_000;

const statuses = new Map<string, NativeStatus>();

/** The native kernels of the addon in `directory`. The known-answer tests run once per process and file. */
export function checkNativeKernels(directory: string = BUILD_DIRECTORY): NativeStatus {
  const file = findAddonFile(directory);
  if ("reason" in file) return { available: false, reason: file.reason };
  const status = statuses.get(file.path) ?? checkAddon(file.path);
  statuses.set(file.path, status);
  return status;
}

/** A crash affects only the kernel that was being tested: the next child continues with the others. */
function checkAddon(path: string): NativeStatus {
  const errors = new Map<number, string | null>();
  for (;;) {
    const child = runChild(path, [...errors.keys()]);
    if (!child.variants) return { available: false, reason: `the known-answer tests ${child.exit}` };
    for (const { id, error } of child.results) errors.set(id, error);
    const untested = child.variants.find(({ id, missing }) => missing === null && !errors.has(id));
    if (!untested) return summarize(path, child.variants, errors);
    errors.set(untested.id, child.exit);
  }
}

/** `variants` is undefined if the addon could not be loaded; `exit` is how the child ended, as a predicate. */
function runChild(path: string, tested: readonly number[]) {
  try {
    const { exitCode, signalCode, exitedDueToTimeout, stdout, stderr } = Bun.spawnSync({
      cmd: [process.execPath, join(import.meta.dirname, "known-answer-test.ts"), path, ...tested.map(String)],
      cwd: import.meta.dirname,
      env: {},
      timeout: CHILD_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const error = stderr.toString().match(/^error: .*$/m)?.[0] ?? "";
    const exit = signalCode ? `crashed with ${signalCode}` : `exited with code ${exitCode} ${error}`.trim();
    // After a crash, the last line can be incomplete.
    const lines = stdout.toString().split("\n").slice(0, -1);
    return { ...parseLines(lines), exit: exitedDueToTimeout ? "timed out" : exit };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...parseLines([]), exit: `could not start: ${reason}` };
  }
}

/** Safe because nothing but `known-answer-test.ts` writes to that pipe. */
function parseLines([first, ...rest]: readonly string[]) {
  const variants = first === undefined ? undefined : (JSON.parse(first) as readonly ListedVariant[]);
  return { variants, results: rest.map((line) => JSON.parse(line) as KnownAnswerResult) };
}

function summarize(
  path: string,
  listed: readonly ListedVariant[],
  errors: ReadonlyMap<number, string | null>,
): NativeStatus {
  const variants: KernelVariant[] = [];
  const unavailable = new Map<string, UnavailableKernel>();
  const add = (family: string, status: UnavailableKernel["status"], reason: string) =>
    unavailable.set(family, { family, status, reason });
  for (const { id, family, width, missing } of listed) {
    const error = errors.get(id);
    if (missing !== null) add(family, "unsupported", missing);
    else if (error) add(family, "failed", `the known-answer test with ${width} lanes ${error}`);
    else variants.push({ id, family, width });
  }
  return { available: true, path, variants, unavailable: [...unavailable.values()] };
}
