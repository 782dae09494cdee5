/**
 * Makes a checkout ready to run: dependencies as locked, native kernels compiled. Several may run at once: a lock that
 * the system frees with its process lets one through at a time. Imports built-ins only, since nothing is installed yet.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

const ROOT = resolve(import.meta.dir, "../../..");
const LOCK_WAIT_MS = 10 * 60 * 1000;

function run(command: readonly string[]): void {
  const { exitCode } = Bun.spawnSync([process.execPath, ...command], {
    cwd: ROOT,
    // The service's own lines begin after this, so what comes before goes to standard error.
    stdio: ["ignore", 2, 2],
  });
  if (exitCode !== 0) process.exit(exitCode);
}

mkdirSync(join(ROOT, "node_modules"), { recursive: true });
const lock = new Database(join(ROOT, "node_modules", ".prepare.lock"));
lock.run(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}`);
lock.run("BEGIN EXCLUSIVE");
run(["install", "--frozen-lockfile", "--silent"]);
run(["run", "--silent", "build:native"]);
