/** A database for one test, and the service's own way into it, which stays open while the tool runs beside it. */
import { join } from "node:path";
import { type Database, openDatabase } from "@latchkey/database";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { type Outcome, openFolder, runTool } from "./tool.ts";

/** The addresses of empty databases of one kind. */
export interface Site extends AsyncDisposable {
  newUrl(): Promise<string>;
}

/** Every database that the tool works on: a line each. */
export const SITES: Readonly<Record<string, () => Promise<Site>>> = {
  libsql: openFiles,
  postgres: openServer,
};

export interface Shared extends AsyncDisposable {
  readonly url: string;
  /** The connections of another process than the tool's. */
  readonly database: Database;
  /** Runs the tool on this database. */
  tool(args: readonly string[], input?: string): Promise<Outcome>;
  /** The same with `--json`, which must succeed; gives what it printed. */
  json<Result>(args: readonly string[], input?: string): Promise<Result>;
}

/** A database that another process, this one, has open. */
export async function openShared(site: Site, { migrated = true } = {}): Promise<Shared> {
  const url = await site.newUrl();
  const database = await openDatabase({ url });
  if (migrated) await database.migrate();
  const tool = (args: readonly string[], input?: string) =>
    runTool(args, { env: { DATABASE_URL: url }, ...(input !== undefined && { input }) });
  return {
    url,
    database,
    tool,
    async json<Result>(args: readonly string[], input?: string): Promise<Result> {
      const { code, stdout, stderr } = await tool([...args, "--json"], input);
      if (code !== 0) throw new Error(`${args.join(" ")}: ${code} ${stderr}`);
      return JSON.parse(stdout) as Result;
    },
    [Symbol.asyncDispose]: () => database.close(),
  };
}

async function openFiles(): Promise<Site> {
  const folder = await openFolder();
  let files = 0;
  return {
    newUrl: async () => `file:${join(folder.path, `${++files}.db`)}`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

async function openServer(): Promise<Site> {
  const server: PostgresServer = await startPostgresServer();
  return {
    newUrl: () => server.createDatabase(),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
