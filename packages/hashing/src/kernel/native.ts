/**
 * The C kernels as seen from TypeScript: what of them runs on this machine, and the addon itself. A kernel counts only
 * after a child process has seen it give known answers on this processor.
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import { BUILD_DIRECTORY, findNativeFile } from "./native-file.ts";

/** 32-bit words of one lane in a lane buffer: inner midstate 8, outer midstate 8, U 8, T 8. */
export const LANE_WORDS = 32;

/** One way to advance lanes together. */
export interface NativeKernel {
  /** What {@link NativeAddon.advance} takes. */
  readonly id: number;
  /** The name by which an operator chooses: `avx512`, `avx2`, `sha-ni` or `armv8`. */
  readonly family: string;
  /** The most lanes it advances together; fewer take as long as all. */
  readonly width: number;
}

declare const THREAD: unique symbol;

/** Made by {@link NativeAddon.startThread}, and of no use in another worker. */
export interface ThreadHandle {
  readonly [THREAD]: true;
}

/** The addon's functions. Each throws a TypeError or a RangeError on a bad argument, before it touches memory. */
export interface NativeAddon {
  /** Puts PBKDF2's first iteration for (password, salt) into `lane`: midstates, U1, T = U1. Any lengths, 0 included. */
  prepare(state: Uint32Array, lane: number, password: Uint8Array, salt: Uint8Array): void;
  /**
   * Starts a thread for {@link advance}, lowered by `nice` (1 to 19, nice(2)), that gives way to whatever else is to run
   * several times a millisecond; null where a thread cannot be lowered alone (that takes Linux). It ends with its handle.
   */
  startThread(nice: number): ThreadHandle | null;
  /**
   * Advances `lanes` (1 to 16 distinct lane indices) by `iterations` (1 to 2^32 - 1) further iterations. Each kernel of
   * `plan` in turn takes as many of them as its width, the last one what is left. Runs on `thread`, for which it waits,
   * or on the calling one. Writes the seconds of processor time that each kernel took into `seconds`.
   */
  advance(
    plan: Uint32Array,
    state: Uint32Array,
    lanes: Uint32Array,
    iterations: number,
    thread: ThreadHandle | null,
    seconds: Float64Array,
  ): void;
  /** Overwrites with zeros in a way that no compiler removes. */
  wipe(bytes: Uint8Array | Uint32Array): void;
}

/** A family of which a kernel cannot run. */
export interface Unavailable {
  readonly family: string;
  /** `failed`: this processor has what it needs, and yet it died or erred in its trial. */
  readonly because: "unsupported" | "failed";
  readonly reason: string;
}

export type NativeStatus =
  | {
      readonly available: true;
      readonly path: string;
      readonly kernels: readonly NativeKernel[];
      readonly unavailable: readonly Unavailable[];
    }
  | { readonly available: false; readonly reason: string };

const FAMILIES = ["avx512", "avx2", "sha-ni", "armv8"];

/** Far beyond the some 30 ms that a child takes; a kernel that never returns counts as dead. */
const CHILD_TIMEOUT_MS = 20_000;

const statuses = new Map<string, NativeStatus>();

/**
 * What runs on this processor, from the addon that was built into `directory`. Each kernel's known-answer test runs in
 * a child process, once in this process's life for each file.
 */
export function nativeKernels(directory: string = BUILD_DIRECTORY): NativeStatus {
  const found = findNativeFile(directory);
  if ("reason" in found) return { available: false, reason: found.reason };
  const known = statuses.get(found.path);
  if (known) return known;
  const status = probe(found.path);
  statuses.set(found.path, status);
  return status;
}

/** Loads the addon in the calling thread. Throws if the file is not an addon for this process. */
export function loadNative(path: string): NativeAddon {
  return asAddon(createRequire(import.meta.url)(path));
}

/** The file's name carries the hash of the sources that export exactly these functions. */
function asAddon(module: unknown): NativeAddon {
  return module as NativeAddon;
}

/** One line that the child writes; see `native-answers.ts`. */
export type ChildLine =
  | { readonly kernels: readonly (NativeKernel & { readonly missing: string | null })[] }
  | { readonly started: number }
  | { readonly finished: number; readonly error: string | null };

/** A child that dies takes with it only the kernel it was at: the next child goes on with the others. */
function probe(path: string): NativeStatus {
  const verdicts = new Map<number, string | null>();
  for (;;) {
    const child = runChild(path, [...verdicts.keys()]);
    const listing = child.lines.find((line) => "kernels" in line);
    if (!listing) return { available: false, reason: `the addon's trial ${child.end}` };
    for (const line of child.lines) {
      if ("started" in line) verdicts.set(line.started, child.end);
      if ("finished" in line) verdicts.set(line.finished, line.error);
    }
    const runnable = listing.kernels.filter((kernel) => kernel.missing === null);
    if (runnable.every((kernel) => verdicts.has(kernel.id))) return summary(path, listing.kernels, verdicts);
    if (child.lines.length === 1) return { available: false, reason: `the addon's trial ${child.end}` };
  }
}

interface Child {
  readonly lines: readonly ChildLine[];
  /** How it ended, as the end of a sentence. */
  readonly end: string;
}

function runChild(path: string, done: readonly number[]): Child {
  try {
    const child = Bun.spawnSync({
      cmd: [process.execPath, join(import.meta.dirname, "native-answers.ts"), path, ...done.map(String)],
      cwd: import.meta.dirname,
      env: {},
      timeout: CHILD_TIMEOUT_MS,
      killSignal: "SIGKILL",
    });
    const text = child.stdout.toString();
    const lines = text
      .slice(0, text.lastIndexOf("\n") + 1)
      .split("\n")
      .filter(Boolean);
    const complaint = child.stderr.toString().match(/^error: .*$/m)?.[0] ?? "";
    const end = child.signalCode
      ? `died by ${child.signalCode}`
      : `ended with code ${child.exitCode} ${complaint}`;
    return {
      lines: lines.map(parseLine),
      end: child.exitedDueToTimeout ? "gave no answer in time" : end.trim(),
    };
  } catch (error) {
    return { lines: [], end: `could not start: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Only `native-answers.ts` writes to that pipe, and it writes nothing else. */
function parseLine(line: string): ChildLine {
  return JSON.parse(line) as ChildLine;
}

function summary(
  path: string,
  listed: readonly (NativeKernel & { readonly missing: string | null })[],
  verdicts: ReadonlyMap<number, string | null>,
): NativeStatus {
  const kernels: NativeKernel[] = [];
  const unavailable = new Map<string, Unavailable>();
  for (const { id, family, width, missing } of listed) {
    const verdict = verdicts.get(id) ?? null;
    if (missing !== null) {
      unavailable.set(family, { family, because: "unsupported", reason: missing });
    } else if (verdict !== null) {
      const reason = `its known-answer test with ${width} lanes ${verdict}`;
      unavailable.set(family, { family, because: "failed", reason });
    } else kernels.push({ id, family, width });
  }
  for (const family of FAMILIES) {
    if (listed.some((kernel) => kernel.family === family)) continue;
    const reason = `not a kernel for ${process.arch}`;
    unavailable.set(family, { family, because: "unsupported", reason });
  }
  return { available: true, path, kernels, unavailable: [...unavailable.values()] };
}
