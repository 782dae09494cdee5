/** Temporary folders for tests and benchmarks. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
  /** The `file:` URL of an embedded database in this folder. */
  readonly databaseUrl: string;
}

/** Creates a folder; disposing it removes it with its content. */
export async function openFolder(): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(tmpdir(), "latchkey-"));
  return {
    path,
    databaseUrl: `file:${join(path, "latchkey.db")}`,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
