/** Shared by the tests of the native addon: the checkout's addon, built if necessary, and builds in temporary folders. */
import { describe, test } from "bun:test";
import { type BuildOptions, buildNative } from "../../build/build-native.ts";
import { findCompiler } from "../../build/compiler.ts";
import { kernels } from "../../src/index.ts";
import { LANE_T, LANE_WORDS, loadAddon } from "../../src/kernel/addon.ts";
import { BUILD_DIRECTORY, findAddonFile } from "../../src/kernel/addon-file.ts";
import { checkNativeKernels, type NativeStatus } from "../../src/kernel/check-kernels.ts";

/** The native kernels that run on this machine. */
export const nativeKernelNames = kernels()
  .map(({ name }) => name)
  .filter((name) => name !== "portable");

/** `test`, or `test.skip` with a message if this machine cannot compile. */
export function compilingTest(): typeof test {
  const reason = skipReason(findCompiler(process.env));
  if (reason !== null) reportSkipped("tests that compile the native kernels", reason);
  return test.skipIf(reason !== null);
}

/** Defines tests that use the addon, which can also have been built on another machine. */
export async function describeNative(name: string, define: (native: NativeFixture) => void): Promise<void> {
  const isBuilt = "path" in findAddonFile(BUILD_DIRECTORY);
  const reason = skipReason(isBuilt ? unsupportedProcessor() : findCompiler(process.env));
  if (reason === null) {
    const native = await openNativeFixture();
    describe(name, () => define(native));
  } else {
    reportSkipped(name, reason);
    test.skip(name, () => {});
  }
}

/** A processor can lack the instructions of every native kernel. */
function unsupportedProcessor(): object {
  const { variants, unavailable } = checkNativeKernels();
  const isUnsupported = variants.length === 0 && unavailable.every(({ status }) => status === "unsupported");
  return isUnsupported ? { reason: "this processor supports no native kernel" } : {};
}

/** Always null in continuous integration: a missing compiler fails the tests there. */
function skipReason(compiler: object): string | null {
  return !process.env.CI && "reason" in compiler ? String(compiler.reason) : null;
}

function reportSkipped(what: string, reason: string): void {
  process.stderr.write(`skipped: ${what}: ${reason}\n`);
}

type NativeFixture = Awaited<ReturnType<typeof openNativeFixture>>;

async function openNativeFixture() {
  await buildNative({ environment: process.env });
  const status = checkNativeKernels();
  if (status.reason !== null) throw new Error(`the native tests need the addon: ${status.reason}`);
  const { path, variants } = status;
  return { path, variants, status, addon: loadAddon(path) };
}

/** The kernels that this processor supports, but whose known-answer test failed. */
export function failedKernels(status: NativeStatus): readonly string[] {
  if (status.reason !== null) return [status.reason];
  const failed = status.unavailable.filter((kernel) => kernel.status === "failed");
  return failed.map(({ family, reason }) => `${family}: ${reason}`);
}

/** Builds and returns the path; throws if the build fails. */
export async function buildInto(directory: string, options: Partial<BuildOptions> = {}): Promise<string> {
  const result = await buildNative({ environment: process.env, directory, ...options });
  if (result.status === "failed") throw new Error(`${result.reason}\n${result.output}`);
  return result.path;
}

/** T of one lane in hexadecimal. */
export function digestOf(state: Uint32Array, lane: number): string {
  const words = state.subarray(lane * LANE_WORDS + LANE_T, (lane + 1) * LANE_WORDS);
  return Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");
}
