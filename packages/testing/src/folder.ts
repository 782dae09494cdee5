/** Temporary folders for tests and benchmarks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export type TemporaryFolder = Awaited<ReturnType<typeof openFolder>>;

/** Creates a folder; disposing it removes it with its content. */
export async function openFolder() {
  const path = await mkdtemp(join(tmpdir(), "latchkey-"));
  return {
    path,
    /** The URL of an embedded database in this folder. */
    databaseUrl: `file:${join(path, "latchkey.db")}`,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
