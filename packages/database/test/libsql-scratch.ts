/** A libsql file in a folder of its own, removed with everything in it. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openLibsqlDatabase } from "../src/libsql/database.ts";
import type { Scratch } from "./repository-conformance.ts";

export interface LibsqlScratch extends Scratch {
  readonly path: string;
  readonly url: string;
  query<Row>(sql: string): Promise<Row[]>;
}

type Action = "migrate" | "query" | "hold" | "hold-exclusively" | "write";

/** Starts `libsql-process.ts`. Another process, because a second SQLite in this one would drop the locks of the first. */
export function spawnLibsqlProcess(action: Action, url: string, sql = "") {
  return Bun.spawn([process.execPath, join(import.meta.dir, "libsql-process.ts"), action, url, sql], {
    stdin: "pipe",
    stdout: "pipe",
  });
}

/** Runs SQL in another process, with another SQLite than the one under test. */
export async function queryElsewhere<Row>(url: string, sql: string): Promise<Row[]> {
  await using child = spawnLibsqlProcess("query", url, sql);
  return JSON.parse(await new Response(child.stdout).text());
}

export async function openFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), "latchkey-database-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export async function openLibsqlScratch(options: { patienceMs?: number } = {}): Promise<LibsqlScratch> {
  const folder = await openFolder();
  const path = join(folder.path, "test.db");
  const url = `file:${path}`;
  const reopen = () => openLibsqlDatabase({ url, ...options });
  const database = await reopen();
  await database.migrate();
  const query = <Row>(sql: string) => queryElsewhere<Row>(url, sql);
  return {
    database,
    path,
    url,
    reopen,
    query,
    execute: async (sql) => void (await query(sql)),
    [Symbol.asyncDispose]: async () => {
      await database.close();
      await folder[Symbol.asyncDispose]();
    },
  };
}
