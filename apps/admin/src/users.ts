/** What the commands for users share: the administration, the log of changes with their operator, and new passwords. */
import { readFileSync } from "node:fs";
import { type Audit, createAdministration } from "@latchkey/administration";
import { CliError, EXIT, toJson, writeError } from "@latchkey/cli";
import { openPasswordBlocklist, sendsMail } from "@latchkey/config";
import type { Database } from "@latchkey/database";
import { createHasher } from "@latchkey/hashing";
import { readVariables, type Variables } from "./environment.ts";
import { readPassword } from "./prompt.ts";
import { passwordParser } from "./user-arguments.ts";

/** Logs a change as one JSON line on standard error, unless it is a terminal, with the fields and events of the service's log. */
const audit: Audit = (line) => {
  if (process.stderr.isTTY) return;
  const entry = { level: "info", time: new Date().toISOString(), ...line, msg: line.event };
  writeError(`${toJson(entry)}\n`);
};

/** @param sendsMail whether the service sends mails. @default false, for commands that cause none */
export const openAdministration = (database: Database, sendsMail = false) =>
  createAdministration({ database, sendsMail, audit });

/** Returns a function that reads, checks and hashes a new password. `HASH_WORKERS` is validated, but one worker is enough. */
export async function openPasswordInput(variables: Variables): Promise<() => Promise<string>> {
  const blocklist = await openPasswordBlocklist(variables.PASSWORD_BLOCKLIST);
  const { HASH_KERNEL: kernel, PASSWORD_MIN_LENGTH } = readVariables(
    ["HASH_KERNEL", "HASH_WORKERS", "PASSWORD_MIN_LENGTH", "PASSWORD_BLOCKLIST"],
    variables,
    { PASSWORD_BLOCKLIST: blocklist.validate },
  );
  const parse = passwordParser(PASSWORD_MIN_LENGTH, blocklist.isListed);
  return async () => {
    const password = await readPassword(parse);
    await using hasher = createHasher({ kernel, workers: 1 });
    return await hasher.hash(password);
  };
}

/** Whether the service sends mails. @throws {CliError} with exit code 78 */
export const readSendsMail = (variables: Variables): boolean =>
  sendsMail(readVariables(["MAIL_URL", "NODE_ENV"], variables));

/** @throws {CliError} with exit code 78 */
export function expectMail(variables: Variables): void {
  if (!readSendsMail(variables))
    throw new CliError("MAIL_URL: is not set, so that the service sends no mail", EXIT.config);
}

/** Returns `cli:` and the user who called sudo, or this process's user: in a container, whose users often have no name, the uid. */
export const actorOf = ({ SUDO_USER, USER }: Variables): string =>
  `cli:${SUDO_USER || findName(process.getuid?.() ?? -1) || USER || process.getuid?.()}`;

/** Bun's `userInfo` returns the variable USER, which services and cron do not set. */
function findName(uid: number): string | undefined {
  try {
    const entries = readFileSync("/etc/passwd", "utf8").split("\n");
    return entries.map((entry) => entry.split(":")).find(([, , id]) => id === String(uid))?.[0];
  } catch {
    return undefined;
  }
}
