/** What the commands for users share: the administration, the log of changes with their operator, and hashing a password. */
import { readFileSync } from "node:fs";
import { type Audit, createAdministration } from "@latchkey/administration";
import { toJson, writeError } from "@latchkey/cli";
import type { Database } from "@latchkey/database";
import { createHasher, hasPassword, noPassword } from "@latchkey/hashing";
import type { Variables } from "./environment.ts";

/**
 * Logs a change as one JSON line on standard error, unless standard error is a terminal. The line has the fields and the event
 * names of the service's log.
 */
const audit: Audit = (line) => {
  if (process.stderr.isTTY) return;
  const entry = { level: "info", time: new Date().toISOString(), ...line, msg: line.event };
  writeError(`${toJson(entry)}\n`);
};

/** @param sendsMail whether the service sends mails. @default false, for commands that cause none */
export const openAdministration = (database: Database, sendsMail = false) =>
  createAdministration({ database, sendsMail, createEndedPassword: noPassword, hasPassword, audit });

/** Hashes the password in one worker. The worker exits afterwards. */
export async function hashPassword(password: string, kernel: string): Promise<string> {
  await using hasher = createHasher({ kernel, workers: 1 });
  return await hasher.hash(password);
}

/**
 * Returns `cli:` and the name of the user who called sudo, or of this process's user. In a container, whose users often have no
 * name, this is the uid.
 */
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
