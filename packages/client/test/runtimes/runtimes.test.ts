/**
 * The packed client in JavaScript runtimes, test runners and a bundler that applications use, and two linters of packages.
 * They are installed from the registry with their own lockfile, for Linux on x64.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cp } from "node:fs/promises";
import { join } from "node:path";
import { inFullRun } from "@latchkey/testing/full-run";
import { createClient } from "../../src/index.ts";
import { type InstalledPackage, installPackage, run } from "../support/installed-package.ts";
import { ADA, type RunningService, startService } from "../support/service.ts";

/** Bun extracts a tarball of more than 2 MB while it downloads it, and can leave out files of it without an error. */
const BUFFERED = { BUN_INSTALL_STREAMING_MIN_SIZE: String(1024 ** 3) };

inFullRun(describe)("the client works", () => {
  const resources = new AsyncDisposableStack();
  let installed: InstalledPackage;
  let service: RunningService;
  beforeAll(async () => {
    installed = resources.use(await installPackage());
    for (const name of ["package.json", "bun.lock", "programs"])
      await cp(join(import.meta.dir, name), join(installed.project, name), { recursive: true });
    await run(
      [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"],
      installed.project,
      BUFFERED,
    );
    service = resources.use(await startService());
    await createClient({ baseUrl: service.url }).register(ADA);
  });
  afterAll(() => resources.disposeAsync());

  /** Runs an installed program, whose path is relative to `node_modules`, in the folder `programs`. */
  const runProgram = (path: string, ...options: string[]): Promise<string> =>
    run([join(installed.project, "node_modules", path), ...options], join(installed.project, "programs"), {
      SERVICE_URL: service.url,
      EMAIL: ADA.email,
      PASSWORD: ADA.password,
    });

  // Node 20.0 has no `localStorage`; that of Node 25 has no methods.
  test.each([
    ["20.0.0", "require.cjs"],
    ["20.0.0", "import.mjs"],
    ["25.9.0", "require.cjs"],
    ["25.9.0", "import.mjs"],
  ])("on Node %s with %s", async (version, program) => {
    const [major] = version.split(".");
    expect(await runProgram(`node-${major}/bin/node`, program)).toBe(`v${version} ${ADA.username}`);
  });

  test("in Jest", async () => {
    await runProgram(".bin/jest");
  });

  test("in Vitest with happy-dom", async () => {
    expect(await runProgram(".bin/vitest", "run")).toContain("1 passed");
  });

  test("in workerd, bundled by Vite", async () => {
    await runProgram(".bin/vite", "build", "--logLevel", "warn");
    await runProgram(".bin/workerd", "test", "workerd.capnp");
  });

  test("for publint and for `attw --profile node16`", async () => {
    const tarball = join("..", installed.tarball);
    await runProgram(".bin/publint", tarball, "--strict");
    expect(await runProgram(".bin/attw", tarball, "--profile", "node16")).toContain("No problems found");
  });
});
