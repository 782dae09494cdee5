/**
 * An embedded database as another process sees it. A second SQLite in this process would release the locks of the first
 * (https://sqlite.org/howtocorrupt.html §2.2), so every action runs in a process of its own.
 */
import { join } from "node:path";

/** `hold` takes the write lock, `hold-exclusively` the whole file, each until standard input ends. */
type Action = "query" | "hold" | "hold-exclusively";

/** Starts `sqlite-process.ts`; `url` is a `file:` URL. It writes a line once a lock is held. */
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
