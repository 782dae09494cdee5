/** The native kernels that run on this machine. */
import { test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { kernels } from "../../src/index.ts";

export const nativeKernelNames = kernels()
  .map(({ name }) => name)
  .filter((name) => name !== "portable");

/**
 * Declares a test of what all native kernels share, which is everything but their digests: with the first of them, and with the
 * others in the full run. `%s` is the name of the kernel.
 */
export function testNativeKernels(name: string, body: (kernel: string) => Promise<void>): void {
  test.each(nativeKernelNames.slice(0, 1))(name, body);
  inFullRun(test).each(nativeKernelNames.slice(1))(name, body);
}
