/**
 * Access to an embedded database from another process. A second SQLite in the same process would release the locks of the
 * first (https://sqlite.org/howtocorrupt.html §2.2), so every action starts its own process.
 */
import { join } from "node:path";

/** `hold` takes the write lock and `hold-exclusively` an exclusive lock, until standard input ends. */
type Action = "query" | "hold" | "hold-exclusively";

/** Starts `sqlite-process.ts`, which prints a line once it holds a lock. `url` is a `file:` URL. */
export function spawnSqlite(action: Action, url: string, sql = "") {
  return Bun.spawn([process.execPath, join(import.meta.dir, "sqlite-process.ts"), action, url, sql], {
    stdin: "pipe",
    stdout: "pipe",
  });
}

/** Runs SQL in another process and returns its rows. */
export async function querySqlite<Row>(url: string, sql: string): Promise<Row[]> {
  await using child = spawnSqlite("query", url, sql);
  return JSON.parse(await new Response(child.stdout).text());
}

/** Starts a process that holds the write lock, or an exclusive lock, until it is disposed. */
export async function holdSqliteLock(
  url: string,
  action: "hold" | "hold-exclusively" = "hold",
): Promise<AsyncDisposable> {
  const child = spawnSqlite(action, url);
  const { done } = await child.stdout.getReader().read();
  if (done) throw new Error(`The process did not get the lock: ${action}.`);
  return {
    [Symbol.asyncDispose]: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}
