/** Opens the database that the service uses, migrated or about to be. */
import { existsSync } from "node:fs";
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  databaseFile,
  openDatabase,
} from "@latchkey/database";
import { ROOT, readDatabaseUrl, type Variables } from "./environment.ts";
import { SchemaMissing } from "./failures.ts";

/** One command asks one thing at a time, so one connection is enough. */
const readOptions = (variables: Variables): DatabaseOptions => ({
  url: readDatabaseUrl(variables),
  baseDirectory: ROOT,
  poolSize: 1,
});

/**
 * Runs `work` on a database that is there; a path with a slip in it makes no new one.
 * @throws ConfigurationError, UnsupportedDatabaseUrl, SchemaMissing or DatabaseUnavailable
 */
export async function withDatabase<T>(
  variables: Variables,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const options = readOptions(variables);
  const path = databaseFile(options);
  if (path !== null && !existsSync(path)) {
    throw new SchemaMissing(`There is no database at ${path}: run \`bun run migrate\` to make it.`);
  }
  await using database = await openDatabase(options);
  return await expectSchema(() => work(database));
}

/**
 * Makes the database if it is a file that is not there, and brings its schema up to this release.
 * @throws ConfigurationError, UnsupportedDatabaseUrl, SchemaTooNew or DatabaseUnavailable
 */
export async function migrateDatabase(variables: Variables): Promise<Database["kind"]> {
  await using database = await openDatabase(readOptions(variables));
  await database.migrate();
  return database.kind;
}

/**
 * What the databases call a table or a column that is not there: SQLite's general code, which a statement known to be
 * well-formed meets for no other reason, and PostgreSQL's undefined_table and undefined_column.
 */
const SCHEMA_REASONS = new Set(["SQLITE_ERROR", "42P01", "42703"]);

/** Runs queries; that the schema is not there is told apart from a database that does not answer. */
async function expectSchema<T>(queries: () => Promise<T>): Promise<T> {
  try {
    return await queries();
  } catch (error) {
    if (error instanceof DatabaseUnavailable && SCHEMA_REASONS.has(error.reason)) {
      throw new SchemaMissing(
        "The database does not have this release's tables: run `bun run migrate` first.",
      );
    }
    throw error;
  }
}
