/** `copy`: moves a service to another database. All ids, tokens and links are preserved. */
import { existsSync } from "node:fs";
import { CliError, usageError, write, writeError } from "@latchkey/cli";
import { copyDatabase, type DatabaseOptions, databaseFile, type OnCopyProgress } from "@latchkey/database";
import { Command } from "commander";
import { expectFile, readOptions } from "../database.ts";
import type { Variables } from "../environment.ts";
import { generatedKeyOf } from "./backup.ts";
import { withExamples } from "./help.ts";

const PROGRESS_INTERVAL_MS = 500;

export const copyCommand = (variables: Variables): Command =>
  withExamples(
    new Command("copy"),
    ['bun run admin copy --to "$(cat /run/secrets/new-database-url)"'],
    "Stop the service first: the copy is refused while another session uses one of\nthe databases. Connect to PostgreSQL without a pooler. The source must have the\nschema of this release (migrate); the copy creates that of the target. It prints\nthe rows and a digest of each table. All columns of all tables are compared\nbefore the target is committed: a copy that fails or is interrupted leaves its\ntables empty. The signing key is not copied: start the service with the same.",
  )
    .description("copy everything from DATABASE_URL to an empty database of either kind")
    .requiredOption("--to <url>", "the target, in the form of DATABASE_URL")
    .action(async ({ to }: { to: string }) => {
      const source = readOptions(variables);
      expectFile(source);
      const target = readTarget(to, variables);
      const tables = await copyDatabase(source, target, showProgress());
      for (const { table, rows, digest } of tables)
        await write(`${table.padEnd(24)}${rows} rows, digest ${digest.slice(0, 16)}\n`);
      writeError(describeKeys(databaseFile(source)));
    });

/** @throws {CliError} with exit code 64 */
function readTarget(to: string, variables: Variables): DatabaseOptions {
  try {
    return readOptions({ ...variables, DATABASE_URL: to, DATABASE_URL_FILE: undefined });
  } catch (error) {
    throw error instanceof CliError ? usageError(error.message.replace("DATABASE_URL", "--to")) : error;
  }
}

/** Names the keys that sign tokens and links. The database does not contain these keys. */
function describeKeys(source: string | null): string {
  const key = source === null ? "" : generatedKeyOf(source);
  const generated = existsSync(key)
    ? ` If you set neither, set AUTH_SECRET_KEY_FILE=${key}, the generated key.`
    : "";
  return `Start the service with the target as DATABASE_URL and the same AUTH_SECRET_KEY or AUTH_PRIVATE_KEY as before; otherwise, all tokens and links are invalid.${generated}\n`;
}

/** Returns a function that shows the progress, but only on a terminal. */
function showProgress(): OnCopyProgress {
  let shownMs = Number.NEGATIVE_INFINITY;
  return (table, rows, total) => {
    const nowMs = performance.now();
    if (!process.stderr.isTTY || (nowMs - shownMs < PROGRESS_INTERVAL_MS && rows < total)) return;
    shownMs = nowMs;
    writeError(`\r${table}: ${rows} of ${total} rows   ${rows < total ? "" : "\n"}`);
  };
}
