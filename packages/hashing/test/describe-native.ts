/** Tests of the native kernels where they can be built or already are; elsewhere they are skipped, and a line says why. */
import { describe, test } from "bun:test";
import { findCompiler } from "../build/compiler.ts";
import { BUILD_DIRECTORY, findNativeFile } from "../src/kernel/native-file.ts";
import { type NativeFixture, nativeFixture } from "./native-fixture.ts";

/** Continuous integration skips nothing: there a test without its compiler fails. */
const mayLack = !process.env.CI;

function lackOf(found: object): string | null {
  return mayLack && "reason" in found ? String(found.reason) : null;
}

function skipped(what: string, reason: string): void {
  process.stderr.write(`skipped: ${what}: ${reason}\n`);
}

/** For tests that compile: `test`, or `test.skip` on a machine that cannot. */
export function compilingTest(): typeof test {
  const lack = lackOf(findCompiler(process.env));
  if (lack !== null) skipped("tests that compile the native kernels", lack);
  return test.skipIf(lack !== null);
}

/** Defines tests that use the addon. A build from elsewhere will do. */
export async function describeNative(name: string, define: (native: NativeFixture) => void): Promise<void> {
  const isBuilt = "path" in findNativeFile(BUILD_DIRECTORY);
  const lack = isBuilt ? null : lackOf(findCompiler(process.env));
  if (lack === null) {
    const native = await nativeFixture();
    describe(name, () => define(native));
  } else {
    skipped(name, lack);
    test.skip(name, () => {});
  }
}
