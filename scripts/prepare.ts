/**
 * Makes a checkout ready to run: dependencies as locked, native kernels compiled. Several may run at once: a lock that
 * the system frees with its process lets one through at a time. Imports built-ins only, since nothing is installed yet.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "..");
const LOCK_WAIT_MS = 10 * 60 * 1000;

/** Says nothing unless it fails: what follows is the service's own output. */
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
