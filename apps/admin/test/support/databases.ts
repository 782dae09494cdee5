/** Databases for tests. The test process keeps its connection open, as the service does, while the tool runs. */
import { join } from "node:path";
import { type Database, openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { type Result, runTool } from "./tool.ts";

/** Creates empty databases of one kind. */
export interface DatabaseSource extends AsyncDisposable {
  newUrl(): Promise<string>;
}

/** All kinds of databases that the tool supports. */
export const DATABASES: Readonly<Record<string, () => Promise<DatabaseSource>>> = {
  libsql: openFiles,
  postgres: openServer,
};

export interface SharedDatabase extends AsyncDisposable {
  readonly url: string;
  /** The connection of the test process. */
  readonly database: Database;
  /** Runs the tool on this database. */
  tool(args: readonly string[], input?: string | Uint8Array): Promise<Result>;
  /** Adds `--json`, expects success and returns the parsed output. */
  json<Value>(args: readonly string[], input?: string): Promise<Value>;
}

/** Opens a new database in the test process. */
export async function openSharedDatabase(
  source: DatabaseSource,
  { migrated = true } = {},
): Promise<SharedDatabase> {
  const url = await source.newUrl();
  const database = await openDatabase({ url });
  if (migrated) await database.migrate();
  const tool = (args: readonly string[], input?: string | Uint8Array) =>
    runTool(args, { env: { DATABASE_URL: url }, ...(input !== undefined && { input }) });
  return {
    url,
    database,
    tool,
    async json<Value>(args: readonly string[], input?: string): Promise<Value> {
      const { code, stdout, stderr } = await tool([...args, "--json"], input);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
      return JSON.parse(stdout) as Value;
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

async function openFiles(): Promise<DatabaseSource> {
  const folder = await openFolder();
  let files = 0;
  return {
    newUrl: async () => `file:${join(folder.path, `${++files}.db`)}`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function openServer(): Promise<DatabaseSource> {
  const server: PostgresServer = await startPostgresServer();
  return {
    newUrl: () => server.createDatabase(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
