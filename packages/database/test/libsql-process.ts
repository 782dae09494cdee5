/** Another process at the same file. It does what its first argument says, and writes a line about it. */

import { Database as Sqlite } from "bun:sqlite";
import { openDatabase } from "../src/index.ts";

const [action, url = "", sql = ""] = process.argv.slice(2);

function openSqlite(): Sqlite {
  const sqlite = new Sqlite(url.slice("file:".length));
  sqlite.run("pragma busy_timeout = 1000");
  return sqlite;
}

async function migrate(): Promise<void> {
  await using database = await openDatabase({ url });
  await database.migrate();
  process.stdout.write("migrated\n");
}

/** Runs the SQL and writes its rows as JSON. */
function query(): void {
  using sqlite = openSqlite();
  process.stdout.write(JSON.stringify(sqlite.query(sql).all()));
}

/** Holds the write lock, or the whole file, until its standard input ends. */
async function hold(mode: "immediate" | "exclusive"): Promise<void> {
  using sqlite = openSqlite();
  sqlite.run(`begin ${mode}`);
  process.stdout.write("held\n");
  for await (const _ of process.stdin);
  sqlite.run("rollback");
}

/** Acknowledges every todo by its id once it is created, until it is killed. */
async function write(): Promise<void> {
  await using database = await openDatabase({ url });
  for (;;) {
    const { id } = await database.todos.create({ title: "durable", completed: false });
    process.stdout.write(`${id}\n`);
  }
}

if (action === "migrate") await migrate();
if (action === "query") query();
if (action === "hold") await hold("immediate");
if (action === "hold-exclusively") await hold("exclusive");
if (action === "write") await write();
