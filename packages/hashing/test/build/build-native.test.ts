/** Compiling the native addon, with and without a usable compiler. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, realpathSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { ROOT } from "@latchkey/testing/repository";
import { runProcess } from "@latchkey/testing/run-process";
import { type BuildOptions, buildNative } from "../../build/build-native.ts";
import { findCompiler } from "../../build/compiler.ts";
import { loadAddon } from "../../src/kernel/addon.ts";
import { addonFilePrefix } from "../../src/kernel/addon-file.ts";
import { checkNativeKernels } from "../../src/kernel/check-kernels.ts";
import { chooseKernel } from "../../src/kernel/choose-kernel.ts";

// A single build takes seconds of processor time, several run at the same time here, and the machine can be busy.
const compiler = findCompiler(process.env);
if ("reason" in compiler) process.stderr.write(`Nothing is compiled: ${compiler.reason}\n`);
const testWithCompiler = test.skipIf("reason" in compiler && !process.env.CI);
const MAIN = join(import.meta.dirname, "../../build/main.ts");

const runBuild = (directory: string, env: Record<string, string | undefined>, ...flags: string[]) =>
  runProcess([process.execPath, MAIN, "--directory", directory, ...flags], { env });

/** Builds and expects that each kernel that this processor supports passes its known-answer test. */
async function expectBuild(directory: string, environment: BuildOptions["environment"]) {
  const result = await buildNative({ environment, directory });
  const { path, reason, unavailable } = checkNativeKernels(directory);
  expect(result).toMatchObject({ path });
  expect(reason).toBeNull();
  expect(unavailable.filter(({ status }) => status === "failed")).toEqual([]);
  return result;
}

inFullRun(testWithCompiler)(
  "two concurrent builds produce one complete file, which a later build reuses, also without a compiler",
  async () => {
    await using directory = await openFolder();
    const build = () => runBuild(directory.path, process.env);
    expect((await Promise.all([build(), build()])).map(({ code }) => code)).toEqual([0, 0]);
    const [name = "", ...others] = readdirSync(directory.path);
    expect(others).toEqual([]);
    expect(name).toStartWith(addonFilePrefix());
    const path = join(directory.path, name);
    const { ino } = statSync(path);
    expect(await build()).toEqual({ code: 0, stdout: "", stderr: "" });
    const result = await expectBuild(directory.path, { PATH: "/nonexistent" });
    expect(result).toEqual({ status: "found", path });
    expect(statSync(path).ino).toBe(ino);
  },
);

inFullRun(testWithCompiler)(
  "a failed build leaves only its reason, and then each compiler other than cc builds an addon whose kernels pass their tests",
  async () => {
    await using directory = await openFolder();
    const failed = await buildNative({
      environment: process.env,
      directory: directory.path,
      defines: ["T=1"],
    });
    const output: unknown = expect.stringContaining("error");
    expect<unknown>(failed).toEqual({ status: "failed", reason: "the C compiler failed", output });
    const reason = "not built: the C compiler failed";
    expect(checkNativeKernels(directory.path)).toMatchObject({ variants: [], reason });
    const installed = ["cc", "gcc", "clang"].flatMap((name) => Bun.which(name) ?? []);
    const [cc = "", ...others] = new Set(installed.map((path) => realpathSync(path)));
    for (const CC of others.length > 0 ? others : [cc]) {
      await expectBuild(directory.path, { ...process.env, CC });
      for (const name of readdirSync(directory.path)) expect(name).toEndWith(".node");
    }
  },
);

inFullRun(testWithCompiler)("a damaged addon is built again", async () => {
  await using directory = await openFolder();
  const built = await buildNative({ environment: process.env, directory: directory.path });
  if (!("path" in built)) throw new Error(built.reason);
  for (const damage of [
    (path: string) => truncateSync(path, 4096),
    (path: string) => writeFileSync(path, "not an addon"),
  ]) {
    damage(built.path);
    expect(await buildNative({ environment: process.env, directory: directory.path })).toEqual({
      ...built,
      status: "built",
    });
    expect((await runBuild(directory.path, process.env)).stdout).toBe("");
  }
  expect(checkNativeKernels(directory.path)).toMatchObject({ reason: null });
});

test("without native kernels, the portable kernel is used, and they are reported as missing", async () => {
  await using directory = await openFolder();
  expect(chooseKernel("auto", directory.path)).toMatchObject({
    name: "portable",
    isNativeMissing: ["x64", "arm64"].includes(process.arch),
  });
  expect(chooseKernel("portable", directory.path).isNativeMissing).toBe(false);
});

test("without a compiler the build succeeds and stores the reason for the service", async () => {
  await using directory = await openFolder();
  const { code, stderr: errors } = await runBuild(directory.path, { PATH: "/nonexistent" });
  expect(code).toBe(0);
  expect(errors.trim().split("\n")).toHaveLength(1);
  expect(errors).toContain("no C compiler");
  const status = checkNativeKernels(directory.path);
  expect(status.reason).toContain("not built: no C compiler");
  expect((await runBuild(directory.path, { PATH: "/nonexistent" }, "--strict")).code).toBe(1);
});

/** A compiler of which only the output of `-v` is known. */
function writeCompiler(directory: string, target: string): string {
  const path = join(directory, `cc-for-${target}`);
  writeFileSync(path, `#!/bin/sh\necho "Target: ${target}" >&2\n`, { mode: 0o755 });
  return path;
}

for (const [what, compiler, reason] of [
  ["that does not exist", () => "/nonexistent/cc", "the C compiler does not run: /nonexistent/cc"],
  ["that is not a compiler", () => "true", `the C compiler is for another machine, not ${process.arch}`],
  [
    "that is for another processor",
    (directory: string) => writeCompiler(directory, "z80-none"),
    `the C compiler is for z80-none, not ${process.arch}`,
  ],
] as const) {
  test(`a compiler ${what} is rejected with a reason`, async () => {
    await using directory = await openFolder();
    await using output = await openFolder();
    const environment = { ...process.env, CC: compiler(directory.path) };
    const result = await buildNative({ environment, directory: output.path });
    expect(result).toEqual({ status: "failed", reason, output: "" });
    expect(checkNativeKernels(output.path)).toMatchObject({ variants: [] });
  });
}

test("an addon of other sources is not loaded", async () => {
  await using directory = await openFolder();
  const stale = addonFilePrefix().replace(/[0-9a-f]{16}$/, "0".repeat(16));
  writeFileSync(join(directory.path, `${stale}-00000000.node`), "");
  expect(checkNativeKernels(directory.path)).toMatchObject({
    variants: [],
    reason: "not built: run `bun run build:native`",
  });
});

test("a file that is not an addon is unavailable with a reason", async () => {
  await using directory = await openFolder();
  const path = join(directory.path, `${addonFilePrefix()}-00000000.node`);
  writeFileSync(path, "not an addon");
  expect(checkNativeKernels(directory.path)).toMatchObject({
    variants: [],
    reason: expect.stringContaining("error"),
  });
  expect(() => loadAddon(path)).toThrow();
});

testWithCompiler(
  "a kernel that crashes and one that returns wrong digests are unavailable, as the fallback reason states, and the others are used",
  async () => {
    const file = join(import.meta.dirname, "../native/faulty-kernels.h");
    // Compiling takes ten seconds of processor time, so later runs find the addon of these sources.
    const hash = Bun.hash(readFileSync(file)).toString(36);
    const directory = join(ROOT, "node_modules/.cache/latchkey", `faulty-kernels-${hash}`);
    await buildNative({ environment: process.env, directory, defines: [`TEST_KERNELS_FILE="${file}"`] });
    const status = checkNativeKernels(directory);
    expect(status.reason).toBeNull();
    expect(status.variants.filter(({ family }) => family === "crash" || family === "wrong")).toEqual([]);
    const reasons = Object.fromEntries(status.unavailable.map(({ family, reason }) => [family, reason]));
    expect(reasons.crash).toMatch(/crashed with SIG(ILL|TRAP)/);
    expect(reasons.wrong).toContain("wrong digest");
    const { choice, fallbackReason } = chooseKernel("auto", directory);
    expect(choice.kind).toBe(status.variants.length > 0 ? "native" : "portable");
    expect(fallbackReason).toMatch(/^crash: .* SIG(ILL|TRAP); wrong: .* wrong digest in lane 0(;|$)/);
    expect(() => chooseKernel("crash", directory)).toThrow("crashed with SIG");
    for (const name of ["portable", ...status.variants.map(({ family }) => family)])
      expect(chooseKernel(name, directory).fallbackReason).toBeNull();
  },
);
