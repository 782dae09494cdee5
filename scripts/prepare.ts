/**
 * Installs the locked dependencies and compiles the native kernels. A lock that the operating system releases when the
 * process exits allows several to run at once. Imports only built-in modules, because nothing is installed yet.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const LOCK_WAIT_MS = 10 * 60 * 1000;

/** Prints nothing unless the command fails, because the output of the service follows. */
function run(command: readonly string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, ...command], {
    cwd: ROOT,
    stdin: "ignore",
  });
  if (exitCode === 0) return;
  process.stderr.write(`bun ${command.join(" ")} failed:\n${stdout}${stderr}`);
  process.exit(exitCode);
}

mkdirSync(join(ROOT, "node_modules"), { recursive: true });
const lock = new Database(join(ROOT, "node_modules", ".prepare.lock"));
lock.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
lock.run("BEGIN EXCLUSIVE");
run(["install", "--frozen-lockfile"]);
run(["run", "build:native"]);
