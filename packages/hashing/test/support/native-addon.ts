/** What the native tests share: the checkout's addon, built if need be, and a builder into folders of their own. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, buildNative } from "../build/native.ts";
import {
  LANE_WORDS,
  loadNative,
  type NativeAddon,
  type NativeKernel,
  type NativeStatus,
  nativeKernels,
  type ThreadHandle,
} from "../src/kernel/native.ts";

export interface NativeFixture {
  readonly path: string;
  readonly kernels: readonly NativeKernel[];
  /** Families that this processor has, but whose known-answer test failed. */
  readonly refused: readonly string[];
  readonly addon: NativeAddon;
}

/** The addon for this machine. Throws where no C compiler is. */
export async function nativeFixture(): Promise<NativeFixture> {
  await buildNative({ environment: process.env });
  const status = nativeKernels();
  if (!status.available) throw new Error(`the native tests need the addon: ${status.reason}`);
  return {
    path: status.path,
    kernels: status.kernels,
    refused: refusedBy(status),
    addon: loadNative(status.path),
  };
}

export function refusedBy(status: NativeStatus): readonly string[] {
  if (!status.available) return [status.reason];
  const refused = status.unavailable.filter(({ because }) => because === "failed");
  return refused.map(({ family, reason }) => `${family}: ${reason}`);
}

export function temporaryDirectory(): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "latchkey-native-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export async function buildInto(directory: string, options: Partial<BuildOptions> = {}): Promise<string> {
  const result = await buildNative({ environment: process.env, directory, ...options });
  if (result.built === "not") throw new Error(`${result.reason}\n${result.output}`);
  return result.path;
}

/** Advances on the calling thread, or on the thread of the handle; gives the processor time of each kernel, in seconds. */
export function advance(
  addon: NativeAddon,
  plan: readonly number[],
  state: Uint32Array,
  lanes: Uint32Array,
  iterations: number,
  thread: ThreadHandle | null = null,
): Float64Array {
  const seconds = new Float64Array(plan.length);
  addon.advance(Uint32Array.from(plan), state, lanes, iterations, thread, seconds);
  return seconds;
}

/** T of one lane as hexadecimal. */
export function digestOf(state: Uint32Array, lane: number): string {
  const words = state.subarray(lane * LANE_WORDS + 24, (lane + 1) * LANE_WORDS);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}
