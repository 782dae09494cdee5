/** Opens the database that the service uses. */
import { existsSync } from "node:fs";
import { unavailable } from "@latchkey/cli";
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  databaseFile,
  openDatabase,
} from "@latchkey/database";
import { ROOT, readVariables, type Variables } from "./environment.ts";

/**
 * A command runs one query at a time, so one connection is enough.
 * @throws {CliError} if the default database does not exist: a command that lacks the service's variables does not create one
 */
export function readOptions(variables: Variables): DatabaseOptions {
  const values = readVariables(["DATABASE_URL", "DATABASE_PREPARED_STATEMENTS"], variables);
  const options = {
    url: values.DATABASE_URL,
    preparedStatements: values.DATABASE_PREPARED_STATEMENTS,
    baseDirectory: ROOT,
    poolSize: 1,
  };
  const isDefault = ["DATABASE_URL", "DATABASE_URL_FILE"].every((name) => variables[name] === undefined);
  if (isDefault) expectFile(options, "set DATABASE_URL, or start the service to create it");
  return options;
}

/** @throws {CliError} if the options name a file that does not exist */
export function expectFile(options: DatabaseOptions, remedy = "run `bun run migrate` to create it"): void {
  const path = databaseFile(options);
  if (path !== null && !existsSync(path))
    throw unavailable(`The database ${path} does not exist: ${remedy}.`);
}

/**
 * SQLite's generic error, which valid statements return only for a missing table or column; PostgreSQL's undefined_table
 * and undefined_column.
 */
const MISSING_SCHEMA_REASONS = new Set(["SQLITE_ERROR", "42P01", "42703"]);

/**
 * Runs `work` on an existing database; a misspelled path does not create a new one.
 * @throws {CliError | UnsupportedDatabaseUrl | DatabaseUnavailable}
 */
export async function withDatabase<T>(variables: Variables, work: (database: Database) => Promise<T>) {
  const options = readOptions(variables);
  expectFile(options);
  await using database = await openDatabase(options);
  try {
    return await work(database);
  } catch (error) {
    const isSchemaMissing = error instanceof DatabaseUnavailable && MISSING_SCHEMA_REASONS.has(error.reason);
    if (!isSchemaMissing) throw error;
    throw unavailable("The database does not have the tables of this release: run `bun run migrate` first.");
  }
}
