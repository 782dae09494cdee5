/** Reads the few variables that the tool shares with the service, by the service's rules; the value of a secret is never shown. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { kernels } from "@latchkey/hashing";
import { ConfigurationError } from "./failures.ts";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Where a relative `file:` starts, wherever the tool was called. */
export const ROOT = resolve(import.meta.dir, "../../..");
const DEFAULT_DATABASE_URL = "file:./data/latchkey.db";
const DATABASE_URL_FORM = /^(file:.+|postgres(ql)?:\/\/.+)$/;
const DATABASE_URLS = "file:PATH, postgres://… or postgresql://…";
const WHOLE_NUMBER = /^[1-9][0-9]{0,3}$/;
const MAX_WORKERS = 1024;

/**
 * `DATABASE_URL`, or what the file at `DATABASE_URL_FILE` holds.
 * @default file:./data/latchkey.db, but in production it must be set
 * @throws ConfigurationError
 */
export function readDatabaseUrl(variables: Variables): string {
  const url = databaseUrlText(variables);
  if (!DATABASE_URL_FORM.test(url)) {
    const problem = url === "" ? "is empty" : "has a value that is not accepted";
    throw new ConfigurationError(`DATABASE_URL: ${problem}; accepted: ${DATABASE_URLS}`);
  }
  return url;
}

function databaseUrlText({ DATABASE_URL, DATABASE_URL_FILE, NODE_ENV }: Variables): string {
  if (DATABASE_URL_FILE === undefined) {
    if (DATABASE_URL === undefined && NODE_ENV === "production") {
      throw new ConfigurationError(
        `DATABASE_URL: is not set, and production takes no default; accepted: ${DATABASE_URLS}`,
      );
    }
    return DATABASE_URL ?? DEFAULT_DATABASE_URL;
  }
  if (DATABASE_URL !== undefined) {
    throw new ConfigurationError("DATABASE_URL_FILE: is set beside DATABASE_URL; accepted: one of the two");
  }
  try {
    return readFileSync(DATABASE_URL_FILE, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw new ConfigurationError(
      "DATABASE_URL_FILE: names a file that cannot be read; accepted: the path of a readable file",
    );
  }
}

export interface Hashing {
  readonly kernel: string;
  /** null: the cores that this process may use. */
  readonly workers: number | null;
}

/**
 * `HASH_KERNEL` and `HASH_WORKERS`, so that the tool derives with what the service derives with.
 * @throws ConfigurationError naming every fault
 */
export function readHashing({ HASH_KERNEL = "auto", HASH_WORKERS }: Variables): Hashing {
  const names = ["auto", ...kernels().map(({ name }) => name)];
  const workers = HASH_WORKERS !== undefined && WHOLE_NUMBER.test(HASH_WORKERS) ? Number(HASH_WORKERS) : null;
  const faults: string[] = [];
  if (!names.includes(HASH_KERNEL)) {
    faults.push(`HASH_KERNEL: ${quoted(HASH_KERNEL)} cannot run here; accepted: ${names.join(", ")}`);
  }
  if (HASH_WORKERS !== undefined && (workers === null || workers > MAX_WORKERS)) {
    faults.push(
      `HASH_WORKERS: cannot be ${quoted(HASH_WORKERS)}; accepted: a whole number from 1 to ${MAX_WORKERS}`,
    );
  }
  if (faults.length > 0) throw new ConfigurationError(faults.join("\n"));
  return { kernel: HASH_KERNEL, workers };
}

const quoted = (text: string): string => JSON.stringify(text);
