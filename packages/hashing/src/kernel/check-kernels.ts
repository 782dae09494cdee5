/**
 * Determines which native kernels run on this machine. A kernel is used only after its known-answer test has passed in a
 * child process, because an illegal instruction must not crash the service.
 */
import { join } from "node:path";
import type { KernelVariant, ListedVariant } from "./addon.ts";
import { BUILD_DIRECTORY, findAddonFile } from "./addon-file.ts";

/** A kernel with at least one variant that cannot run. */
export interface UnavailableKernel {
  readonly family: string;
  /** `unsupported`: this machine cannot run the kernel. `failed`: the machine supports it, but its known-answer test failed. */
  readonly status: "unsupported" | "failed";
  readonly reason: string;
}

export interface NativeStatus {
  /** The addon's file; empty if there is no addon. */
  readonly path: string;
  readonly variants: readonly KernelVariant[];
  readonly unavailable: readonly UnavailableKernel[];
  /** Why there is no addon; null if an addon exists. */
  readonly reason: string | null;
}

/** A child process takes about 30 ms. A kernel that never returns counts as crashed after this time. */
const CHILD_TIMEOUT_MS = 20_000;

const statuses = new Map<string, NativeStatus>();

/** Returns the native kernels of the addon in `directory`. The known-answer tests run once per process and file. */
export function checkNativeKernels(directory: string = BUILD_DIRECTORY): NativeStatus {
  const file = findAddonFile(directory);
  if ("reason" in file) return withoutAddon(file.reason);
  const status = statuses.get(file.path) ?? checkAddon(file.path);
  statuses.set(file.path, status);
  return status;
}

/** Whether the addon cannot be loaded, or every kernel that this processor supports fails its known-answer test. */
export function isDamaged(path: string): boolean {
  const { reason, variants, unavailable } = checkAddon(path);
  return reason !== null || (variants.length === 0 && unavailable.some(({ status }) => status === "failed"));
}

function withoutAddon(reason: string): NativeStatus {
  return { path: "", variants: [], unavailable: [], reason };
}

/** A crash affects only the variant under test: the next child process continues with the next variant. */
function checkAddon(path: string): NativeStatus {
  const errors: (string | null)[] = [];
  for (;;) {
    const child = runChild(path, errors.length);
    if (!child.variants) return withoutAddon(`the known-answer tests ${child.exit}`);
    errors.push(...child.errors);
    if (errors.length === child.variants.length) return summarize(path, child.variants, errors);
    errors.push(child.exit);
  }
}

/** `variants` is undefined if the addon could not be loaded. `exit` is the child's end, such as "crashed with SIGILL". */
function runChild(path: string, firstId: number) {
  try {
    const { exitCode, signalCode, exitedDueToTimeout, stdout, stderr } = Bun.spawnSync({
      cmd: [process.execPath, join(import.meta.dirname, "known-answer-test.ts"), path, `${firstId}`],
      cwd: import.meta.dirname,
      env: {},
      timeout: CHILD_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const error = stderr.toString().match(/^error: .*$/m)?.[0] ?? "";
    const exit = signalCode ? `crashed with ${signalCode}` : `exited with code ${exitCode} ${error}`.trim();
    return { ...parseOutput(stdout.toString()), exit: exitedDueToTimeout ? "timed out" : exit };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ...parseOutput(""), exit: `could not start: ${reason}` };
  }
}

/** The types are safe: only `known-answer-test.ts` writes this output. Drops the last line, which a crash can cut off. */
function parseOutput(output: string): { variants?: readonly ListedVariant[]; errors: (string | null)[] } {
  const lines = output.split("\n").slice(0, -1);
  const [variants, ...errors] = lines.map((line) => JSON.parse(line));
  return { variants, errors };
}

function summarize(
  path: string,
  listed: readonly ListedVariant[],
  errors: readonly (string | null)[],
): NativeStatus {
  const unavailable = new Map<string, UnavailableKernel>();
  for (const { id, family, width, missing } of listed) {
    const error = errors[id];
    const reason = missing ?? `the known-answer test with ${width} lanes ${error}`;
    if (error) unavailable.set(family, { family, status: missing ? "unsupported" : "failed", reason });
  }
  const variants = listed.filter(({ id }) => errors[id] === null);
  return { path, variants, unavailable: [...unavailable.values()], reason: null };
}
