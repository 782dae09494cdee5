/** `backup` and `restore`: copies and replaces the file of an embedded database. PostgreSQL has its own programs for backups. */
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { link, mkdir, rename, rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { describeError, printable, unavailable, usageError, write, writeError } from "@latchkey/cli";
import { backUpFile, databaseFile, restoreFile } from "@latchkey/database";
import { Command } from "commander";
import { readOptions } from "../database.ts";
import type { Variables } from "../environment.ts";
import { withExamples } from "./help.ts";
import { describeLastIds, keyWarning, WITHOUT_FACTORS_OPTION, WITHOUT_PASSKEYS_OPTION } from "./raise-ids.ts";

const KEYS = ["AUTH_SECRET_KEY", "AUTH_PRIVATE_KEY"].flatMap((name) => [name, `${name}_FILE`]);
const STREAM = "-";

/** Returns the path of the signing key that the service generates in the folder of the database. */
export const generatedKeyOf = (database: string): string => join(dirname(database), "auth-secret-key");

export const backupCommand = (variables: Variables): Command =>
  withExamples(
    new Command("backup"),
    ["bun run admin backup /var/backups/latchkey.db", "bun run --silent admin backup - > latchkey.db"],
    "The service can keep running. Only the owner can read the file (mode 0600).",
  )
    .description("copy an embedded database to a file, or to standard output with -")
    .argument("<file>", "the file to create, or -")
    .option("--force", "replace the file if it exists")
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      const path = existing(fileOf(variables, (url) => `pg_dump --format=custom --file=${file} ${url}`));
      const isStream = file === STREAM;
      const target = isStream ? path : resolve(file);
      // The service would keep the replaced file open, and its write-ahead log would be applied to the new one.
      if (!isStream && target === path) throw usageError(`The file ${printable(path)} is the database.`);
      if (!isStream && !force) refuseExisting(target);
      await withDraft(target, async (draft) => {
        await backUpFile(path, draft);
        if (isStream) return pipeline(createReadStream(draft), process.stdout, { end: false });
        // `link` fails if `target` was created during the backup. `rename` replaces `target`.
        await (force ? rename : link)(draft, target);
        await write(`Wrote ${printable(target)}.\n`);
      });
    });

interface RestoreOptions {
  readonly force?: boolean;
  readonly withoutPasskeys?: boolean;
  readonly withoutFactors?: boolean;
}

export const restoreCommand = (variables: Variables): Command =>
  withExamples(
    new Command("restore"),
    ["bun run admin restore /var/backups/latchkey.db --force", "bun run admin restore - < latchkey.db"],
    "Stop the service first. Tokens of the time before the restore must not be valid\nafterwards, so all are revoked, and a generated signing key is deleted: the\nservice generates a new one. Replace any other key yourself. Users have the\npasswords, passkeys and identities of the backup again. New ids are higher than\nthose of the replaced file, and a million higher than those of the backup if\nthat file is missing, unreadable, older or of another installation. The backup\nis migrated to this release.",
  )
    .description("replace an embedded database by a backup, or by standard input with -")
    .argument("<file>", "a file that `backup` wrote, or -")
    .option("--force", "replace the database if it exists")
    .option(...WITHOUT_PASSKEYS_OPTION)
    .option(...WITHOUT_FACTORS_OPTION)
    .action(async (file: string, options: RestoreOptions) => {
      const { force = false, withoutPasskeys = false, withoutFactors = false } = options;
      const path = fileOf(
        variables,
        (url) =>
          `pg_restore --clean --if-exists --single-transaction --dbname=${url} ${file}, then raise-ids`,
      );
      if (!force) refuseExisting(path);
      const source = file === STREAM ? process.stdin : createReadStream(existing(resolve(file)));
      const key = generatedKeyOf(path);
      const isGenerated = existsSync(key) && KEYS.every((name) => variables[name] === undefined);
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const lastIds = await withDraft(path, async (draft) => {
        await pipeline(source, createWriteStream(draft, { mode: 0o600, flags: "wx" }));
        return restoreFile(path, draft, {
          withoutPasskeys,
          withoutFactors,
          prepare: () => rm(key, { force: true }),
        });
      });
      await write(`Restored ${printable(path)}. ${describeLastIds(lastIds)}\n`);
      writeError(
        isGenerated
          ? "Deleted the signing key: the service generates a new one, and all users log in again.\n"
          : keyWarning("restore"),
      );
    });

/** @param command receives the URL, and returns the PostgreSQL command to run in place of `backup` or `restore` */
function fileOf(variables: Variables, command: (url: string) => string): string {
  const path = databaseFile(readOptions(variables));
  if (path !== null) return path;
  throw usageError(`DATABASE_URL is a PostgreSQL server. Run: ${command('"$DATABASE_URL"')}`);
}

function existing(path: string): string {
  if (existsSync(path)) return path;
  throw unavailable(`The file ${printable(path)} does not exist.`);
}

function refuseExisting(path: string): void {
  if (existsSync(path)) throw usageError(`The file ${printable(path)} exists; pass --force to replace it.`);
}

/** Calls `use` with the path of a new file in the folder of `target`. Deletes the new file afterwards. */
async function withDraft<T>(target: string, use: (draft: string) => Promise<T>): Promise<T> {
  const draft = join(dirname(target), `.latchkey-${crypto.randomUUID()}`);
  try {
    return await use(draft);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error && "code" in error)) throw error;
    throw unavailable(`Cannot write ${printable(target)} or read its source: ${describeError(error)}.`);
  } finally {
    for (const suffix of ["", "-journal", "-wal", "-shm"]) await rm(draft + suffix, { force: true });
  }
}
