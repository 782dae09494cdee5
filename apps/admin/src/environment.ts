/** Reads the variables that the tool shares with the service, by the service's rules. Secret values are never printed. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CliError, EXIT } from "@latchkey/cli";
import { kernels } from "@latchkey/hashing";

export type Variables = Readonly<Record<string, string | undefined>>;

/** Relative `file:` URLs are resolved against it, in any working directory. */
export const ROOT = resolve(import.meta.dir, "../../..");
const DEFAULT_DATABASE_URL = "file:./data/latchkey.db";
const DATABASE_URL_PATTERN = /^(file:.+|postgres(ql)?:\/\/.+)$/;
const DATABASE_URLS = "file:PATH, postgres://… or postgresql://…";
const MAX_WORKERS = 1024;

const configurationError = (message: string): CliError => new CliError(message, EXIT.config);

/**
 * `DATABASE_URL`, or the content of the file at `DATABASE_URL_FILE`.
 * @default file:./data/latchkey.db; required in production
 * @throws {CliError} with exit code 78
 */
export function readDatabaseUrl(variables: Variables): string {
  const url = databaseUrlText(variables);
  if (DATABASE_URL_PATTERN.test(url)) return url;
  const problem = url === "" ? "is empty" : "has an unsupported value";
  throw configurationError(`DATABASE_URL: ${problem}; accepted: ${DATABASE_URLS}`);
}

function databaseUrlText({ DATABASE_URL, DATABASE_URL_FILE, NODE_ENV }: Variables): string {
  if (DATABASE_URL_FILE === undefined) {
    if (DATABASE_URL !== undefined || NODE_ENV !== "production") return DATABASE_URL ?? DEFAULT_DATABASE_URL;
    throw configurationError(`DATABASE_URL: is required in production; accepted: ${DATABASE_URLS}`);
  }
  if (DATABASE_URL !== undefined) {
    throw configurationError("DATABASE_URL_FILE: cannot be combined with DATABASE_URL; set one of them");
  }
  try {
    return readFileSync(DATABASE_URL_FILE, "utf8").replace(/\r?\n$/, "");
  } catch {
    throw configurationError("DATABASE_URL_FILE: cannot read the file; accepted: path of a readable file");
  }
}

export interface HashingOptions {
  readonly kernel: string;
  /** null: the cores available to this process. */
  readonly workers: number | null;
}

/**
 * `HASH_KERNEL` and `HASH_WORKERS`: the tool hashes with the same kernel as the service.
 * @throws {CliError} with exit code 78; it reports all errors, one per line
 */
export function readHashing({ HASH_KERNEL = "auto", HASH_WORKERS }: Variables): HashingOptions {
  const names = ["auto", ...kernels().map(({ name }) => name)];
  const workers = HASH_WORKERS === undefined ? null : Number(HASH_WORKERS);
  const errors: string[] = [];
  if (!names.includes(HASH_KERNEL)) {
    const value = JSON.stringify(HASH_KERNEL);
    errors.push(`HASH_KERNEL: ${value} is not supported on this machine; accepted: ${names.join(", ")}`);
  }
  if (workers !== null && !(/^[1-9]\d*$/.test(`${HASH_WORKERS}`) && workers <= MAX_WORKERS)) {
    const value = JSON.stringify(HASH_WORKERS);
    errors.push(`HASH_WORKERS: ${value} is not valid; accepted: a whole number from 1 to ${MAX_WORKERS}`);
  }
  if (errors.length > 0) throw configurationError(errors.join("\n"));
  return { kernel: HASH_KERNEL, workers };
}
