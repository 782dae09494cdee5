/** `users import`, `users export` and `users stats`: moves users between systems and counts users. */
import { type FileHandle, open } from "node:fs/promises";
import { countUsers, listUsers } from "@latchkey/administration";
import { CliError, EXIT, printable, toJson, unavailable, usageError, write, writeError } from "@latchkey/cli";
import type { Timestamp, UserRepository } from "@latchkey/database";
import { hashFormat } from "@latchkey/hashing";
import { Command } from "commander";
import { IsDateTime } from "typebox/format";
import { withDatabase } from "../database.ts";
import { readVariables, type Variables } from "../environment.ts";
import { importUsers } from "../import/import-users.ts";
import { readLines } from "../import/lines.ts";
import { formatLine } from "../import/user-line.ts";
import { JSON_OPTION, withExamples } from "./help.ts";
import { keyWarning } from "./raise-ids.ts";

type Flag = "commit" | "usernameFromEmail" | "keepRegistered" | "json";
type Options = Readonly<Partial<Record<Flag, boolean> & Record<"importedBefore" | "ids", string>>>;

const PROGRESS_INTERVAL_MS = 500;
/** In place of a path: standard input or standard output. */
const STREAM = "-";

export const importCommand = (variables: Variables): Command =>
  withExamples(
    new Command("import"),
    ["bun run admin users import users.jsonl", "zcat users.gz | bun run admin users import - --commit"],
    "Each line is a JSON object with email, password_hash (null: the user needs a new\npassword), username, and optionally is_active, email_verified, created_at,\nroles, claims, locale, the null_reason of a missing hash, and the id and\nlast_id of `users export`; see docs/import.md. To resume an import, run it\nagain. With --json, each rejected line is an object on a line of its own; the\ncounts are the last one.",
  )
    .description("check a file of users with password hashes, and import it with --commit")
    .argument("<file>", "JSON Lines; - reads standard input")
    .option("--commit", "write the users; rejected lines are skipped")
    .option("--username-from-email", "generate missing and invalid usernames, always the same ones")
    .option("--keep-registered", "skip lines with email_verified false whose user registered here")
    .option("--imported-before <time>", "users created before this time were imported, by an earlier release")
    .option("--ids <file>", "with --commit: write line, email and id of each imported user to a new file")
    .option(...JSON_OPTION)
    .action(async (path: string, { json = false, importedBefore: time, ids: idsPath, ...flags }: Options) => {
      const { commit = false, usernameFromEmail = false, keepRegistered = false } = flags;
      const importedBefore = time === undefined ? undefined : parseTime(time);
      if (idsPath !== undefined && !commit) throw usageError("--ids requires --commit.");
      const file = path === STREAM ? null : await openFile(path, "r");
      await using ids = idsPath === undefined ? null : await openFile(idsPath, "wx");
      await withDatabase(variables, async ({ users }) => {
        const onRejected = (line: number, reason: string) =>
          write(json ? `${toJson({ line, reason })}\n` : `Line ${line}: ${printable(reason)}\n`);
        const onDeleted = (line: number) =>
          writeError(
            `Line ${line} is skipped: the user of its e-mail deleted the account or changed the e-mail. If this was not the owner, invite the owner: bun run admin users invite EMAIL\n`,
          );
        const lines = readLines(readChunks(file));
        const options = { commit, usernameFromEmail, keepRegistered, importedBefore, onRejected, onDeleted };
        const onImported = async (imported: readonly object[]) =>
          ids?.writeFile(imported.map((user) => `${JSON.stringify(user)}\n`).join(""));
        const isUsed = commit && (await isInUse(users));
        const { lastId, ...report } = await importUsers({ lines, users, ...options, onImported });
        const { formats, ...counts } = report;
        await write(json ? `${toJson(report)}\n` : formatCounts({ ...counts, ...formats }));
        // Ids or `latchkey` hashes show that a Latchkey service exported the lines. Earlier releases exported no ids. A service in use
        // has a key of its own: nobody has a token of the source that it accepts.
        if (commit && !isUsed && (lastId > 0 || formats.latchkey)) writeError(keyWarning("import"));
        if (!json && !commit) await write("Nothing was written; pass --commit to import.\n");
        if (counts.rejected > 0)
          throw new CliError(`Rejected ${counts.rejected} of ${counts.lines} lines.`, EXIT.dataError);
      });
    });

export const exportCommand = (variables: Variables): Command =>
  withExamples(
    new Command("export"),
    ["bun run admin users export users.jsonl", "bun run --silent admin users export - | gzip > users.gz"],
    "With -, the count is written to standard error.",
  )
    .description("write all users with their password hashes to a new file, as `import` reads it")
    .argument("<file>", "a file that does not exist, which only its owner can read; - is standard output")
    .option(...JSON_OPTION)
    .action(async (path: string, { json = false }: Options) => {
      await withDatabase(variables, async ({ users: list }) => {
        await using file = path === STREAM ? null : await openFile(path, "wx");
        let users = 0;
        for await (const page of listUsers(list)) {
          // The last id is read after each page, because users can register during the export.
          const lastId = await list.findLastId();
          const ids = page.map(({ id }) => id);
          const means = await list.countLoginMeans(ids, 0);
          const lines = page.map((user) => `${formatLine(user, lastId, means.get(user.id))}\n`).join("");
          await (file ? file.writeFile(lines) : write(lines));
          users += page.length;
        }
        const report = json ? `${toJson({ users })}\n` : formatCounts({ users });
        await (file ? write(report) : writeError(report));
      });
    });

export const statsCommand = (variables: Variables): Command =>
  withExamples(new Command("stats"), ["bun run admin users stats --json"])
    .description(
      "count all users, inactive ones, those who logged in within 30 days, and those with an imported hash by format",
    )
    .option(...JSON_OPTION)
    .action(async ({ json = false }: Options) => {
      const { AUTH_SECOND_FACTOR: countsFactors } = readVariables(["AUTH_SECOND_FACTOR"], variables);
      await withDatabase(variables, async ({ users }) => {
        const { imported, ...totals } = await countUsers(users, hashFormat, { countsFactors });
        await write(json ? `${toJson({ ...totals, imported })}\n` : formatCounts({ ...totals, ...imported }));
      });
    });

const formatCounts = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .map(([name, number]) => `${name.padEnd(24)}${number}\n`)
    .join("");

/** Whether somebody has registered or logged in here: not if the database is empty, or has imported users only. */
async function isInUse(users: UserRepository): Promise<boolean> {
  for await (const page of listUsers(users))
    if (page.some(({ importedAt, lastLoginAt }) => importedAt === null || lastLoginAt !== null)) return true;
  return false;
}

/** @throws {CliError} with exit code 64 */
function parseTime(text: string): Timestamp {
  if (IsDateTime(text)) return new Date(text).toISOString();
  throw usageError("--imported-before must be a time such as 2026-01-31T00:00:00Z.");
}

/** Opens a file. Only the owner can read a new file, because exports contain hashes. An existing file is never replaced. */
const openFile = (path: string, flags: "r" | "wx"): Promise<FileHandle> =>
  open(path, flags, 0o600).catch((error: NodeJS.ErrnoException) => {
    throw unavailable(`Cannot ${flags === "r" ? "read" : "create"} ${printable(path)} (${error.code}).`);
  });

/** Reads the file, or standard input if it is null. A terminal shows what was read and, if known, the remaining time. */
async function* readChunks(file: FileHandle | null): AsyncGenerator<Uint8Array> {
  const size = (await file?.stat())?.size ?? 0;
  const startedMs = performance.now();
  let [bytes, shownMs] = [0, startedMs];
  for await (const chunk of file?.createReadStream() ?? process.stdin) {
    yield chunk;
    bytes += chunk.length;
    const nowMs = performance.now();
    if (!process.stderr.isTTY || nowMs - shownMs < PROGRESS_INTERVAL_MS) continue;
    shownMs = nowMs;
    const seconds = Math.ceil(((nowMs - startedMs) / 1000) * (size / bytes - 1));
    writeError(`\r${(bytes / 1e6).toFixed(1)} MB${size > 0 ? `, ${seconds} s remaining` : ""}   \r`);
  }
}
