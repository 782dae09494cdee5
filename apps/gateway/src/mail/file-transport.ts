/** Stores mails as files, to try the service without a mail server. */
import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { composeMessage, type Transport } from "@latchkey/mail";
import type { Logger } from "../observability/logger.ts";

const MAX_FILES = 100;

/** Keeps the newest 100 mails. Only the owner of the files can read them. */
export function createFileTransport(folder: string, logger: Pick<Logger, "info">): Transport {
  return {
    async send(message) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      // UUIDv7 names sort by time.
      const name = `${Bun.randomUUIDv7()}.eml`;
      const path = join(folder, name);
      // Whoever waits for a mail, such as a test, reads it as soon as the folder lists it.
      const unfinished = join(dirname(folder), `.${name}`);
      await writeFile(unfinished, await composeMessage(message), { mode: 0o600, flag: "wx" });
      await rename(unfinished, path);
      logger.info({ path }, "MAIL_URL is not set: a mail was written to a file");
      const files = (await readdir(folder)).filter((name) => name.endsWith(".eml")).sort();
      for (const old of files.slice(0, -MAX_FILES)) await rm(join(folder, old), { force: true });
    },
  };
}
