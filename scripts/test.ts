/**
 * Runs the tests of all packages with turbo, then prints the totals of each package and, last, the failed tests. Each package
 * writes its results as JUnit XML; turbo restores those of a cached package. Arguments are passed to turbo.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { dirname, join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const COUNTS = ["tests", "failures", "skipped", "time"] as const;
const FAILURE = /<testcase name="([^"]*)"[^>]*? file="([^"]*)" line="(\d+)"[^>]*>\s*<failure/g;
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: "<", gt: ">", amp: "&" };

const decode = (text: string): string =>
  text.replaceAll(/&(\w+);/g, (entity, name) => ENTITIES[name] ?? entity);

/** The counts of a package, and one line per failed test; null if its runner wrote no results. */
async function readResults(folder: string) {
  const xml = await Bun.file(join(ROOT, folder, "junit.xml"))
    .text()
    .catch(() => null);
  if (xml === null) return null;
  const root = /<testsuites [^>]*>/.exec(xml)?.[0] ?? "";
  const [tests = 0, failed = 0, skipped = 0, seconds = 0] = COUNTS.map((name) =>
    Number(new RegExp(` ${name}="([\\d.]+)"`).exec(root)?.[1]),
  );
  const failures = Array.from(
    xml.matchAll(FAILURE),
    ([, name = "", file, line]) => `  ${folder}/${file}:${line}  ${decode(name)}`,
  );
  return { passed: tests - failed - skipped, failed, skipped, seconds, failures };
}

const folders: string[] = [];
for (const pattern of ["apps/*", "packages/*", "deploy", "scripts"])
  for (const path of [...new Bun.Glob(`${pattern}/package.json`).scanSync(ROOT)].sort())
    if ((await Bun.file(join(ROOT, path)).json()).scripts?.test) folders.push(dirname(path));
for (const folder of folders) rmSync(join(ROOT, folder, "junit.xml"), { force: true });

/** Enough for the folders of all tests that run at the same time, mostly those of the image. */
const MEMORY_BYTES = 6 * 2 ** 30;

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
const memoryFolder = openMemoryFolder();

const turbo = Bun.spawn(
  [join(ROOT, "node_modules/.bin/turbo"), "test", "--continue", ...process.argv.slice(2)],
  {
    cwd: ROOT,
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: "1",
      ...(memoryFolder !== null && { TMPDIR: memoryFolder }),
    },
    stdio: ["inherit", "inherit", "inherit"],
  },
);
const exitCode = await turbo.exited;
if (memoryFolder !== null) rmSync(memoryFolder, { recursive: true, force: true });

const total = { passed: 0, failed: 0, skipped: 0 };
const failures: string[] = [];
process.stdout.write("\n");
for (const folder of folders) {
  const results = await readResults(folder);
  if (results === null) {
    process.stdout.write(`${folder.padEnd(20)} no results\n`);
    continue;
  }
  const { passed, failed, skipped, seconds } = results;
  total.passed += passed;
  total.failed += failed;
  total.skipped += skipped;
  failures.push(...results.failures);
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`;
  process.stdout.write(`${folder.padEnd(20)} ${counts} in ${seconds.toFixed(1)} s\n`);
}
if (failures.length > 0) process.stdout.write(`\nFailed tests:\n${failures.join("\n")}\n`);
const skipped = total.skipped > 0 ? `, ${total.skipped} skipped` : "";
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed${skipped}\n`);
process.exit(exitCode);
