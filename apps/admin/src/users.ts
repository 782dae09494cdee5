/** Functions that the commands for users share: opening the administration, hashing a password, and logging changes. */

import { type Audit, createAdministration } from "@latchkey/administration";
import { toJson, writeError } from "@latchkey/cli";
import type { Database } from "@latchkey/database";
import { createHasher, hasPassword, noPassword } from "@latchkey/hashing";

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
