/** Other processes on the same database. */
import { expect } from "bun:test";
import { join } from "node:path";

/** Starts `replica-process.ts`. */
export const spawnReplica = (action: "migrate" | "write", url: string) =>
  Bun.spawn([process.execPath, join(import.meta.dir, "replica-process.ts"), action, url], {
    stdin: "pipe",
    stdout: "pipe",
  });

/** Migrates a database from this many processes at the same time and expects all of them to succeed. */
export async function migrateInProcesses(count: number, url: string): Promise<void> {
  const replicas = Array.from({ length: count }, () => spawnReplica("migrate", url));
  for (const { stdout } of replicas) await stdout.getReader().read();
  for (const { stdin } of replicas) stdin.end();
  const codes = await Promise.all(replicas.map(({ exited }) => exited));
  expect(codes).toEqual(Array(count).fill(0));
}
