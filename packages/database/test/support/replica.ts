/** Other processes on the same database. */
import { expect } from "bun:test";
import { join } from "node:path";

const REPLICAS = 4;

/** Starts `replica-process.ts`. */
export const spawnReplica = (action: "migrate" | "write", url: string) =>
  Bun.spawn([process.execPath, join(import.meta.dir, "replica-process.ts"), action, url], {
    stdin: "pipe",
    stdout: "pipe",
  });

/** Migrates a database from several processes at the same time and expects all of them to succeed. */
export async function migrateConcurrently(url: string): Promise<void> {
  const replicas = Array.from({ length: REPLICAS }, () => spawnReplica("migrate", url));
  for (const { stdout } of replicas) await stdout.getReader().read();
  for (const { stdin } of replicas) stdin.end();
  const codes = await Promise.all(replicas.map(({ exited }) => exited));
  expect(codes).toEqual(Array(REPLICAS).fill(0));
}
