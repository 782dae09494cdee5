import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildNative } from "../build/native.ts";
import { loadNative, nativeKernels } from "../src/kernel/native.ts";
import { nativeFilePrefix } from "../src/kernel/native-file.ts";
import { selectKernel } from "../src/kernel/select.ts";
import { compilingTest } from "./describe-native.ts";
import { buildInto, refusedBy, temporaryDirectory } from "./native-fixture.ts";

// A build takes about a second alone, and several run at once here.
setDefaultTimeout(60_000);

const testCompiled = compilingTest();
const MAIN = join(import.meta.dirname, "../build/main.ts");

async function runBuild(
  directory: string,
  environment: Record<string, string | undefined>,
  ...flags: string[]
) {
  const cmd = [process.execPath, MAIN, "--directory", directory, ...flags];
  const child = Bun.spawn({ cmd, env: environment, stdout: "pipe", stderr: "pipe" });
  const [output, complaint] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, output, complaint };
}

testCompiled("two builds at once leave one whole file", async () => {
  using directory = temporaryDirectory();
  const runs = await Promise.all([
    runBuild(directory.path, process.env),
    runBuild(directory.path, process.env),
  ]);
  expect(runs.map(({ code }) => code)).toEqual([0, 0]);
  const [name, ...others] = readdirSync(directory.path);
  expect(others).toEqual([]);
  expect(name).toStartWith(nativeFilePrefix());
  expect(nativeKernels(directory.path)).toMatchObject({
    available: true,
    path: join(directory.path, name ?? ""),
  });
});

testCompiled("each compiler that is here makes an addon whose kernels all pass their trial", async () => {
  using directory = temporaryDirectory();
  const compilers = ["cc", "gcc", "clang"].filter((name) => Bun.which(name) !== null);
  expect(compilers).not.toEqual([]);
  for (const CC of compilers) {
    const path = await buildInto(directory.path, { environment: { ...process.env, CC } });
    const status = nativeKernels(directory.path);
    expect(status).toMatchObject({ available: true, path });
    expect(refusedBy(status)).toEqual([]);
  }
});

testCompiled("a second build finds the first", async () => {
  using directory = temporaryDirectory();
  const path = await buildInto(directory.path);
  const inode = statSync(path).ino;
  expect(await runBuild(directory.path, process.env)).toEqual({ code: 0, output: "", complaint: "" });
  expect(statSync(path).ino).toBe(inode);
});

test("without a compiler the build succeeds and the reason is kept for the service", async () => {
  using directory = temporaryDirectory();
  const { code, complaint } = await runBuild(directory.path, { PATH: "/nonexistent" });
  expect(code).toBe(0);
  expect(complaint.trim().split("\n")).toHaveLength(1);
  expect(complaint).toContain("no C compiler");
  const status = nativeKernels(directory.path);
  expect(status).toEqual({ available: false, reason: expect.stringContaining("not built: no C compiler") });
  expect((await runBuild(directory.path, { PATH: "/nonexistent" }, "--strict")).code).toBe(1);
});

testCompiled("a file that was built elsewhere serves where no compiler is", async () => {
  using directory = temporaryDirectory();
  const path = await buildInto(directory.path);
  const result = await buildNative({ environment: { PATH: "/nonexistent" }, directory: directory.path });
  expect(result).toEqual({ built: "before", path });
});

for (const [what, CC, reason] of [
  ["that is not there", "/nonexistent/cc", "does not run"],
  ["that is no compiler", "true", "is for another machine"],
  ["that is for another processor", "sh -c 'echo Target: z80-none >&2'", "does not run"],
] as const) {
  test(`a compiler ${what} is refused by name`, async () => {
    using directory = temporaryDirectory();
    const result = await buildNative({ environment: { ...process.env, CC }, directory: directory.path });
    expect(result).toEqual({ built: "not", reason: expect.stringContaining(reason), output: "" });
    expect(nativeKernels(directory.path)).toMatchObject({ available: false });
  });
}

testCompiled("a compiler that fails leaves no file, and a later build forgets the reason", async () => {
  using directory = temporaryDirectory();
  const failed = await buildNative({
    environment: process.env,
    directory: directory.path,
    defines: ["T=1"],
  });
  expect(failed).toMatchObject({
    built: "not",
    reason: "the C compiler failed",
    output: expect.stringContaining("error"),
  });
  expect(nativeKernels(directory.path)).toEqual({
    available: false,
    reason: "not built: the C compiler failed",
  });
  const path = await buildInto(directory.path);
  expect(readdirSync(directory.path)).toEqual([path.slice(directory.path.length + 1)]);
});

test("a build of other sources is not picked up", async () => {
  using directory = temporaryDirectory();
  const stale = nativeFilePrefix().replace(/[0-9a-f]{16}$/, "0".repeat(16));
  writeFileSync(join(directory.path, `${stale}-00000000.node`), "");
  expect(nativeKernels(directory.path)).toEqual({
    available: false,
    reason: "not built: run `bun run build:native`",
  });
});

test("a file that is no addon is unavailable with a reason", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, `${nativeFilePrefix()}-00000000.node`);
  writeFileSync(path, "no addon");
  expect(nativeKernels(directory.path)).toEqual({
    available: false,
    reason: expect.stringContaining("error"),
  });
  expect(() => loadNative(path)).toThrow();
});

testCompiled("a kernel that dies and one that errs are unavailable, and the others serve", async () => {
  using directory = temporaryDirectory();
  const path = await buildInto(directory.path, { defines: ["LATCHKEY_FAULTY_KERNELS"] });
  const status = nativeKernels(directory.path);
  if (!status.available) throw new Error(status.reason);
  expect(status.path).toBe(path);
  expect(status.kernels.length).toBeGreaterThan(0);
  expect(status.kernels.map(({ family }) => family)).not.toContain("crash");
  expect(status.kernels.map(({ family }) => family)).not.toContain("wrong");
  const reasons = Object.fromEntries(status.unavailable.map(({ family, reason }) => [family, reason]));
  expect(reasons.crash).toMatch(/died by SIG(ILL|TRAP)/);
  expect(reasons.wrong).toContain("wrong digest");
});

testCompiled(
  "the reason of a fallback names the kernels that failed their trial, and no others",
  async () => {
    using directory = temporaryDirectory();
    await buildInto(directory.path, { defines: ["LATCHKEY_FAULTY_KERNELS"] });
    const { choice, fallbackReason } = selectKernel("auto", directory.path);
    expect(choice.kind).toBe("native");
    expect(fallbackReason).toMatch(/^crash: .* died by SIG(ILL|TRAP); wrong: .* wrong digest in lane 0$/);
    expect(() => selectKernel("crash", directory.path)).toThrow("died by SIG");
    const status = nativeKernels(directory.path);
    const families = status.available ? status.kernels.map(({ family }) => family) : [];
    for (const family of families) expect(selectKernel(family, directory.path).fallbackReason).toBeNull();
    expect(selectKernel("portable", directory.path).fallbackReason).toBeNull();
  },
);

testCompiled("the bench program times a kernel's bare loop", async () => {
  using directory = temporaryDirectory();
  await buildInto(directory.path);
  const path = await buildInto(directory.path, { target: "bench" });
  const status = nativeKernels(directory.path);
  const [kernel] = status.available ? status.kernels : [];
  if (!kernel) throw new Error("no kernel");
  const child = Bun.spawnSync([path, kernel.family, String(kernel.width), "2", "0.05"]);
  expect(JSON.parse(child.stdout.toString())).toMatchObject({ family: kernel.family, threads: 2 });
  expect(Bun.spawnSync([path, "unknown", "1", "1", "1"]).exitCode).toBe(2);
});
