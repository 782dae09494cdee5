/**
 * Runs the tests of all packages with turbo, then prints the totals of each package and, last, the failed tests. Each package
 * writes its results as JUnit XML; turbo restores those of a cached package.
 *
 * `bun run test [--full] [FLAG OF TURBO]...`, or `bun run test [--full] PACKAGE|FILE...`, which always runs them
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync, statSync } from "node:fs";
import { freemem, tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isFullRun } from "@latchkey/testing/full-run";
import { bundlePrograms } from "@latchkey/testing/program-bundles";
import { SHORT_LIVED } from "@latchkey/testing/runtime-settings";
import { parseArguments } from "./test-arguments.ts";
import { describeLeftOut, parseResults, type Results } from "./test-results.ts";

const ROOT = resolve(import.meta.dir, "..");
/** `EX_USAGE` of sysexits.h. */
const USAGE_ERROR = 64;
/** Enough for the folders of all tests that run at the same time, mostly those of the image. */
const MEMORY_BYTES = 6 * 2 ** 30;

const folders: string[] = [];
for (const pattern of ["apps/*", "packages/*", "deploy", "scripts"])
  for (const path of [...new Bun.Glob(`${pattern}/package.json`).scanSync(ROOT)].sort())
    if ((await Bun.file(join(ROOT, path)).json()).scripts?.test) folders.push(dirname(path));

function parseOwnArguments() {
  try {
    return parseArguments(process.argv.slice(2), { root: ROOT, folders, exists: existsSync });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    process.exit(USAGE_ERROR);
  }
}
const { isFull, turboFlags, selected } = parseOwnArguments();

/** A folder in memory, because tests wait for the disk most of the time; null where it is small or cannot contain programs. */
function openMemoryFolder(): string | null {
  if (process.env.TMPDIR || !existsSync("/dev/shm")) return null;
  const { bavail, bsize } = statfsSync("/dev/shm");
  const isExecutable = /^\S+ \/dev\/shm tmpfs (?!\S*\bnoexec\b)/m.test(readFileSync("/proc/mounts", "utf8"));
  if (!isExecutable || Math.min(bavail * bsize, freemem()) < MEMORY_BYTES) return null;
  const folder = mkdtempSync("/dev/shm/latchkey-test-");
  // Servers of other users write into it, as into /tmp.
  chmodSync(folder, 0o1777);
  return folder;
}

/** Changes when a program is installed or removed: tests that lacked it are not served from the cache any more. */
const installedPrograms = (path: string): string =>
  Bun.hash(
    path
      .split(":")
      .filter((folder) => !folder.includes("node_modules") && !folder.startsWith("/tmp/"))
      .map((folder) => `${folder} ${statSync(folder, { throwIfNoEntry: false })?.mtimeMs}`)
      .join("\n"),
  ).toString(16);

const memoryFolder = openMemoryFolder();
/** The default run of all packages starts the gateway and the admin tool dozens of times. */
const bundleFolder =
  !isFull && !isFullRun && selected.size === 0
    ? mkdtempSync(join(memoryFolder ?? tmpdir(), "programs-"))
    : null;
const environment = {
  ...process.env,
  TURBO_TELEMETRY_DISABLED: "1",
  LATCHKEY_TEST_PROGRAMS: installedPrograms(process.env.PATH ?? ""),
  ...(isFull && { LATCHKEY_TEST_FULL: "1" }),
  ...(!isFull && !isFullRun && SHORT_LIVED),
  ...(memoryFolder !== null && { TMPDIR: memoryFolder }),
  ...(bundleFolder !== null && (await bundlePrograms(bundleFolder))),
};
const run = (command: readonly string[], cwd: string): Promise<number> =>
  Bun.spawn([...command], { cwd, env: environment, stdio: ["inherit", "inherit", "inherit"] }).exited;

async function runTests(): Promise<number> {
  if (selected.size === 0)
    return run([join(ROOT, "node_modules/.bin/turbo"), "test", "--continue", ...turboFlags], ROOT);
  let exitCode = 0;
  for (const [folder, files] of selected)
    exitCode = (await run([process.execPath, "run", "test", ...files], join(ROOT, folder))) || exitCode;
  return exitCode;
}

for (const folder of folders) rmSync(join(ROOT, folder, "junit.xml"), { force: true });
const exitCode = await runTests();
// A server that ends with its tests can still remove its own files.
for (const folder of [bundleFolder, memoryFolder])
  if (folder !== null) rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });

const all: Results[] = [];
process.stdout.write("\n");
for (const folder of folders) {
  const xml = await Bun.file(join(ROOT, folder, "junit.xml"))
    .text()
    .catch(() => null);
  if (xml !== null) {
    const results = parseResults(xml, folder);
    all.push(results);
    const { passed, failed, skipped, seconds } = results;
    const missing = skipped > 0 ? `, ${skipped} skipped` : "";
    process.stdout.write(
      `${folder.padEnd(20)} ${passed} passed, ${failed} failed${missing} in ${seconds.toFixed(1)} s\n`,
    );
  } else if (selected.has(folder) || (selected.size === 0 && turboFlags.length === 0)) {
    process.stdout.write(`${folder.padEnd(20)} no results\n`);
  }
}
const failures = all.flatMap((results) => results.failures);
// A file that cannot be loaded declares no test, so no results name it.
if (exitCode !== 0 && failures.length === 0) failures.push("  see above: an error outside of the tests");
if (failures.length > 0) process.stdout.write(`\nFailed tests:\n${failures.join("\n")}\n`);
const leftOut = describeLeftOut(all.flatMap((results) => results.leftOut));
if (leftOut !== "") process.stdout.write(`\n${leftOut}\n`);
const sum = (count: "passed" | "skipped") => all.reduce((total, results) => total + results[count], 0);
const skipped = sum("skipped") > 0 ? `, ${sum("skipped")} skipped` : "";
process.stdout.write(`\n${sum("passed")} passed, ${failures.length} failed${skipped}\n`);
process.exit(exitCode);
