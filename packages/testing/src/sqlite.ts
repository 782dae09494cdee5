/**
 * Access to an embedded database from another process. A second SQLite in the same process would release the locks of the
 * first (https://sqlite.org/howtocorrupt.html §2.2). One process runs all queries of a test process; each lock has its own.
 */
import { Database } from "bun:sqlite";
import { createInterface } from "node:readline";
import { readUntil } from "./server-process.ts";

/** `hold` takes the write lock and `hold-exclusively` an exclusive lock, until standard input ends. */
type Action = "query" | "hold" | "hold-exclusively";

interface Query {
  /** A `file:` URL. */
  readonly url: string;
  readonly sql: string;
}

/** The answer to a query, as a line. */
type Answer = { readonly rows: unknown[] } | { readonly error: string };

/** `readline` also ends lines at the separators that JSON does not escape. */
const toLine = (value: Query | Answer): string =>
  `${JSON.stringify(value).replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029")}\n`;

/** Starts the process of an action, which ends with its standard input. */
const spawnSqlite = (action: Action, url = "") =>
  Bun.spawn([process.execPath, import.meta.path, action, url], { stdin: "pipe", stdout: "pipe" });

/** Starts the process that runs the queries. It does not keep this process alive, and ends with it. */
function startQueries() {
  const child = spawnSqlite("query");
  return async (query: Query): Promise<Answer> => {
    child.ref();
    child.stdin.write(toLine(query));
    child.stdin.flush();
    const line = await readUntil(child.stdout, "\n");
    child.unref();
    return JSON.parse(line) as Answer;
  };
}

let runQuery: ReturnType<typeof startQueries> | undefined;
let lastAnswer: Promise<unknown> = Promise.resolve();

/** Runs SQL in another process and returns its rows. Closes the file afterwards. */
export async function querySqlite<Row>(url: string, sql: string): Promise<Row[]> {
  const send = () => {
    runQuery ??= startQueries();
    return runQuery({ url, sql });
  };
  const answering = lastAnswer.then(send, send);
  lastAnswer = answering;
  const answer = await answering;
  if ("error" in answer) throw new Error(answer.error);
  return answer.rows as Row[];
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

function openFile(url: string): Database {
  const sqlite = new Database(url.slice("file:".length));
  sqlite.run("pragma busy_timeout = 1000");
  return sqlite;
}

function answer({ url, sql }: Query): Answer {
  try {
    using sqlite = openFile(url);
    using statement = sqlite.query(sql);
    return { rows: statement.all() };
  } catch (error) {
    return { error: String(error) };
  }
}

if (import.meta.main) {
  const [action, url = ""] = process.argv.slice(2);
  if (action === "query") {
    for await (const line of createInterface({ input: process.stdin }))
      process.stdout.write(toLine(answer(JSON.parse(line) as Query)));
  } else {
    using sqlite = openFile(url);
    // In WAL mode, a transaction excludes readers only in this locking mode. The recovery of a file excludes readers, too.
    if (action === "hold-exclusively") sqlite.run("pragma locking_mode = exclusive");
    sqlite.run(action === "hold" ? "begin immediate" : "begin exclusive");
    process.stdout.write("held\n");
    for await (const _ of process.stdin);
    sqlite.run("rollback");
  }
}
