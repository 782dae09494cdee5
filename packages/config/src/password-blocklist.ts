/**
 * The passwords that nobody can choose. Only the first 8 bytes of each password's SHA-1 digest are stored. The digests are
 * sorted in runs, because one sort of millions of digests would block the event loop and delay the handling of signals.
 */
import { createReadStream } from "node:fs";
import { InvalidValue, invalid } from "./variable-kinds.ts";

/** The number of prefixes in a run. */
const RUN_LENGTH = 2 ** 18;
/** The number of lines between two garbage collections. Otherwise, the garbage would become as large as the list. */
const COLLECT_EVERY = 2 ** 14;
/** In UTF-16 units. A file with a longer line is not a list of passwords. */
const LINE_MAX_LENGTH = 2 ** 12;
const DIGEST = /^[0-9a-f]{40}(:\d+)?$/i;
/**
 * Matches a line that starts with a digest of any kind, such as NTLM, or that is UTF-16 text. If such lines counted as
 * passwords, the list would not block any password that users choose.
 */
const LIKE_DIGEST = /^[0-9a-f]{32,}(:|$)|\0/i;

export type PasswordBlocklist = Awaited<ReturnType<typeof openPasswordBlocklist>>;

/** @param path the value of `PASSWORD_BLOCKLIST`. If the path is empty, no password is listed */
export async function openPasswordBlocklist(path = "") {
  let problem: InvalidValue | null = null;
  const runs = await readRuns(path).catch((error) => {
    problem = error instanceof InvalidValue ? error : new InvalidValue("names a file that cannot be read");
    return [];
  });
  const includes = (prefix: bigint): boolean => runs.some((run) => includesSorted(run, prefix));
  return {
    /** Whether the password or its lowercase form is listed. */
    isListed: (password: string): boolean =>
      includes(prefixOf(password)) || includes(prefixOf(password.toLowerCase())),
    /** The check of `PASSWORD_BLOCKLIST`. @throws {InvalidValue} if its file cannot be used; nothing is listed then */
    validate(): void {
      if (problem) throw problem;
    },
  };
}

async function readRuns(path: string): Promise<readonly BigUint64Array[]> {
  const runs: BigUint64Array[] = [];
  if (path === "") return runs;
  let run = new BigUint64Array(RUN_LENGTH);
  let length = 0;
  let lines = 0;
  let containsDigests: boolean | undefined;
  const add = (line: string): void => {
    lines += 1;
    if (line === "") return;
    // The first line that is not empty decides whether all lines must be digests.
    containsDigests ??= LIKE_DIGEST.test(line);
    if (containsDigests && !DIGEST.test(line))
      invalid(`names a file whose line ${lines} is not a SHA-1 digest`);
    if (length === RUN_LENGTH) {
      runs.push(run.sort());
      run = new BigUint64Array(RUN_LENGTH);
      length = 0;
    }
    if (lines % COLLECT_EVERY === 0) Bun.gc(true);
    run[length++] = containsDigests ? BigInt(`0x${line.slice(0, 16)}`) : prefixOf(line.toLowerCase());
  };

  let rest = "";
  for await (const chunk of createReadStream(path, "utf8")) {
    // Some editors begin a file with U+FEFF.
    const [...complete] = `${rest}${chunk}`.replace(/^\uFEFF/, "").split(/\r?\n/);
    rest = complete.pop() ?? "";
    complete.forEach(add);
    if (rest.length > LINE_MAX_LENGTH) invalid(`names a file whose line ${lines + 1} is too long`);
  }
  add(rest);
  if (length === 0) invalid("names a file without passwords");
  return [...runs, run.slice(0, length).sort()];
}

const digest = new Uint8Array(20);
const digestView = new DataView(digest.buffer);

function prefixOf(password: string): bigint {
  Bun.SHA1.hash(password, digest);
  return digestView.getBigUint64(0);
}

function includesSorted(run: BigUint64Array, prefix: bigint): boolean {
  let [from, to] = [0, run.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((run[middle] ?? 0n) < prefix) from = middle + 1;
    else to = middle;
  }
  return run[from] === prefix;
}
