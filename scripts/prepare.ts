/**
 * Installs the locked dependencies, bundles the pages' scripts and, except for tests of an application (`--ephemeral`), compiles the
 * native kernels: `bun scripts/prepare.ts [--production] [--ephemeral]`. A lock that the operating system releases when the process
 * exits allows several to run at once. Imports only built-in modules, because nothing is installed yet.
 */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const NODE_MODULES = join(ROOT, "node_modules");
/** A step that takes longer is announced on standard error. Usually there is nothing to do. */
const ANNOUNCE_AFTER_MS = 100;
const LOCK_WAIT_MS = 10 * 60 * 1000;
/** Codes of files and of SQLite if this user cannot write to the checkout. */
const NOT_WRITABLE = /^(EACCES|EPERM|EROFS|SQLITE_(CANTOPEN|READONLY))/;

const announce = (text: string): void => void process.stderr.write(`${text} …\n`);
const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error ? String(error.code) : "";

/** Returns null if this user cannot write to the checkout: nothing can be installed, and no lock is required. */
function acquireLock(): Database | null {
  try {
    mkdirSync(NODE_MODULES, { recursive: true });
    const lock = new Database(join(NODE_MODULES, ".prepare.lock"));
    try {
      lock.run(`PRAGMA busy_timeout = ${ANNOUNCE_AFTER_MS}`);
      lock.run("BEGIN EXCLUSIVE");
    } catch (error) {
      if (codeOf(error) !== "SQLITE_BUSY") throw error;
      announce("Waiting for another process that installs the dependencies");
      lock.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
      lock.run("BEGIN EXCLUSIVE");
    }
    return lock;
  } catch (error) {
    if (!NOT_WRITABLE.test(codeOf(error))) throw error;
    return null;
  }
}

interface Step {
  readonly name: string;
  readonly command: readonly string[];
  /** What to do if the command fails. @default "" */
  readonly advice?: string;
  /** Show the command's own progress on a terminal. @default false */
  readonly showProgress?: boolean;
}

/** Prints the output of the command only if it fails: standard output belongs to the program that is started next. */
async function run({ name, command, advice = "", showProgress = false }: Step): Promise<void> {
  const timer = setTimeout(announce, ANNOUNCE_AFTER_MS, name);
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: ROOT,
    stdin: "ignore",
    stdout: "pipe",
    stderr: showProgress && process.stderr.isTTY ? "inherit" : "pipe",
  });
  const outputs = await Promise.all(
    [child.stdout, child.stderr].map((stream) => (stream ? new Response(stream).text() : "")),
  );
  clearTimeout(timer);
  const exitCode = await child.exited;
  if (exitCode === 0) return;
  process.stderr.write(`bun ${command.join(" ")} failed:\n${outputs.join("")}${advice}`);
  process.exit(exitCode);
}

const lock = acquireLock();
// Turbo is a development dependency. If it is installed, all dependencies are, and none of them is removed.
const isProduction = process.argv.includes("--production") && !existsSync(join(NODE_MODULES, "turbo"));
await run({
  name: isProduction ? "Installing the production dependencies" : "Installing all dependencies",
  command: [
    "install",
    "--frozen-lockfile",
    ...(isProduction ? ["--production", "--filter", "./apps/*"] : []),
  ],
  advice: lock ? "" : `${ROOT} is not writable: start the service once as the owner of the folder.\n`,
  showProgress: true,
});
if (!process.argv.includes("--ephemeral"))
  await run({ name: "Compiling the native kernels", command: ["packages/hashing/build/main.ts"] });
await run({ name: "Bundling the pages' scripts", command: ["apps/gateway/src/pages/build.ts"] });
// Released here at the earliest: a database that is not referenced any more is closed by the garbage collector.
lock?.close();
