/**
 * Access to an embedded database from another process. A second SQLite in the same process would release the locks of the
 * first (https://sqlite.org/howtocorrupt.html §2.2), so every action starts its own process.
 */
import { Database } from "bun:sqlite";
import { readUntil } from "./server-process.ts";

/** `hold` takes the write lock and `hold-exclusively` an exclusive lock, until standard input ends. */
type Action = "query" | "hold" | "hold-exclusively";

/** Starts the process of an action, which prints a line once it holds a lock. `url` is a `file:` URL. */
function spawnSqlite(action: Action, url: string, sql = "") {
  return Bun.spawn([process.execPath, import.meta.path, action, url, sql], {
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
export async function holdSqliteLock(url: string, action: "hold" | "hold-exclusively" = "hold") {
  const child = spawnSqlite(action, url);
  await readUntil(child.stdout, "held");
  return {
    [Symbol.asyncDispose]: async () => {
      await child.stdin.end();
      await child.exited;
    },
  };
}

if (import.meta.main) {
  const [action, url = "", sql = ""] = process.argv.slice(2);
  using sqlite = new Database(url.slice("file:".length));
  sqlite.run("pragma busy_timeout = 1000");
  if (action === "query") {
    process.stdout.write(JSON.stringify(sqlite.query(sql).all()));
  } else {
    // In WAL mode, a transaction excludes readers only in this locking mode. The recovery of a file excludes readers, too.
    if (action === "hold-exclusively") sqlite.run("pragma locking_mode = exclusive");
    sqlite.run(action === "hold" ? "begin immediate" : "begin exclusive");
    process.stdout.write("held\n");
    for await (const _ of process.stdin);
    sqlite.run("rollback");
  }
}
