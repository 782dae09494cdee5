/** Opens the database that the service uses. */
import { existsSync } from "node:fs";
import { printable, unavailable } from "@latchkey/cli";
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  databaseFile,
  openDatabase,
} from "@latchkey/database";
import { ROOT, readVariables, type Variables } from "./environment.ts";

/**
 * Returns options with one connection, because a command runs one query at a time.
 * @throws {CliError} if the default database does not exist: a command that lacks the service's variables must not create a
 * database
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
    throw unavailable(`The database ${printable(path)} does not exist: ${remedy}.`);
}

/**
 * `SQLITE_ERROR` is generic, but valid statements return this code only if a table or column is missing. `42P01` and `42703` are
 * undefined_table and undefined_column of PostgreSQL.
 */
const MISSING_SCHEMA_REASONS = new Set(["SQLITE_ERROR", "42P01", "42703"]);

/** Runs `work` on an existing database. A misspelled path does not create a new database. */
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
