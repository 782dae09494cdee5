/** The process that `sqlite.ts` starts: opens the file with Bun's SQLite and runs the action in its first argument. */
import { Database } from "bun:sqlite";

const [action, url = "", sql = ""] = process.argv.slice(2);
using sqlite = new Database(url.slice("file:".length));
sqlite.run("pragma busy_timeout = 1000");

if (action === "query") {
  process.stdout.write(JSON.stringify(sqlite.query(sql).all()));
} else {
  // In WAL mode, a transaction excludes readers only in this locking mode, as the recovery of a file does.
  if (action === "hold-exclusively") sqlite.run("pragma locking_mode = exclusive");
  sqlite.run(action === "hold" ? "begin immediate" : "begin exclusive");
  process.stdout.write("held\n");
  for await (const _ of process.stdin);
  sqlite.run("rollback");
}
