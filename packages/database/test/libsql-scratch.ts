/** A migrated libsql file in a folder of its own, removed with everything in it. */
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { querySqlite } from "@latchkey/testing/sqlite";
import { openLibsqlDatabase } from "../src/libsql/database.ts";
import type { Scratch } from "./repository-conformance.ts";

export interface LibsqlScratch extends Scratch {
  readonly path: string;
  readonly url: string;
  query<Row>(sql: string): Promise<Row[]>;
}

/** Starts `libsql-process.ts`: a replica that migrates the database, or creates todos until it is killed. */
export const spawnReplica = (action: "migrate" | "write", url: string) =>
  Bun.spawn([process.execPath, join(import.meta.dir, "libsql-process.ts"), action, url], { stdout: "pipe" });

export async function openLibsqlScratch(options: { patienceMs?: number } = {}): Promise<LibsqlScratch> {
  const folder = await openFolder();
  const url = folder.databaseUrl;
  const reopen = () => openLibsqlDatabase({ url, ...options });
  const database = await reopen();
  await database.migrate();
  const query = <Row>(sql: string) => querySqlite<Row>(url, sql);
  return {
    database,
    path: url.slice("file:".length),
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
