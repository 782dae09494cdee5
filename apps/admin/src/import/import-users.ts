/**
 * Imports the lines of a file in small batches. Each batch is atomic, and a user who exists with the values of the line counts
 * as imported, so an interrupted import is resumed by running it again. Of each line, only its number and two hashes stay in
 * memory.
 */
import { isImported, type Timestamp, type User, type UserRepository } from "@latchkey/database";
import type { Line } from "./lines.ts";
import { differences, type LineUser, parseLine } from "./user-line.ts";

/** The embedded database is locked while a batch is written: about 20 ms. */
const BATCH_SIZE = 500;

export interface ImportOptions {
  readonly lines: AsyncIterable<readonly Line[]>;
  readonly users: UserRepository;
  /** Whether users are written. */
  readonly commit: boolean;
  readonly usernameFromEmail: boolean;
  /** Whether users who registered here keep the account, if the source has not verified the address. */
  readonly keepRegistered: boolean;
  /** Users who were created earlier count as imported. */
  readonly importedBefore: Timestamp | undefined;
  /** Receives the users of a batch who are imported, in ascending order of lines. */
  onImported?(users: readonly ImportedLine[]): Promise<void>;
  /** Receives the number of a line and a sentence, in ascending order. */
  onRejected(line: number, reason: string): Promise<void>;
}

type ImportedLine = Readonly<Record<"line" | "id", number>> & { readonly email: string };
type NumberedUser = LineUser & { readonly line: number };

/**
 * `new` counts the users that are or can be created; `existing` the imported ones with the same values; `formats` both;
 * `registered` those who registered here and keep the account; `deleted` those who deleted it. `lastId` is the highest id of
 * the source.
 */
export async function importUsers(options: ImportOptions) {
  const { users, commit, keepRegistered, importedBefore = "", onRejected } = options;
  const counts = { lines: 0, new: 0, existing: 0, registered: 0, deleted: 0, rejected: 0 };
  let lastId = 0;
  const formats: Record<string, number> = {};
  const [firstWithEmail, firstWithUsername] = [createFirstLines(), createFirstLines()];
  let batch: NumberedUser[] = [];
  let rejections: [line: number, reason: string][] = [];
  /** The ids of users whom a release without `imported_at` imported. */
  let unmarked: number[] = [];
  let imported: ImportedLine[] = [];

  /** @param id unknown before a new user is written */
  const accept = (outcome: "new" | "existing", { line, email, format }: NumberedUser, id?: number) => {
    counts[outcome] += 1;
    increment(formats, format);
    if (id !== undefined) imported.push({ line, email, id });
  };

  const findDuplicate = ({ email, username }: LineUser, line: number): string | null => {
    const sameEmail = firstWithEmail(email, line);
    if (sameEmail !== line) return `The e-mail address, ignoring case, is that of line ${sameEmail}.`;
    const sameUsername = firstWithUsername(username, line);
    return sameUsername === line ? null : `The username is that of line ${sameUsername}.`;
  };

  /** Returns why the line of a user who exists is rejected. */
  const compare = (existing: User, user: NumberedUser): string | null => {
    if (!isImported(existing) && existing.createdAt >= importedBefore) {
      if (!keepRegistered || user.emailVerified !== false)
        return `The user was registered here, not imported: \`bun run admin users send-reset ${existing.id}\` hands the account to the owner of the address.`;
      counts.registered += 1;
      return null;
    }
    if (existing.importedAt === null) unmarked.push(existing.id);
    const differing = differences(existing, user).join(", ");
    if (differing !== "") return `The user exists with another ${differing}.`;
    accept("existing", user, existing.id);
    return null;
  };

  /** Handles the users who exist, deleted their account, or have a username that is taken, and returns the others. */
  const withoutTaken = async (candidates: readonly NumberedUser[]): Promise<NumberedUser[]> => {
    if (candidates.length === 0) return [];
    const emails = candidates.map(({ email }) => email);
    const usernames = candidates.map(({ username }) => username);
    const taken = await users.findTaken({ emails, usernames });
    const byEmail = new Map(taken.map((user) => [user.email, user]));
    const takenNames = new Set(taken.map(({ username }) => username));
    const deleted = new Set(await users.findDeleted(emails));
    return candidates.filter((user) => {
      const existing = byEmail.get(user.email);
      let reason: string | null = null;
      if (existing) reason = compare(existing, user);
      else if (deleted.has(user.email)) counts.deleted += 1;
      else if (takenNames.has(user.username)) reason = "The username belongs to another user.";
      else return true;
      if (reason !== null) rejections.push([user.line, reason]);
      return false;
    });
  };

  const flush = async () => {
    const startedMs = performance.now();
    // Before the first user, because a user who registers during the import must not get an id of the source.
    if (commit && lastId > 0) await users.raiseLastId(lastId);
    for (let remaining = await withoutTaken(batch); remaining.length > 0; ) {
      const written: { email: string; id?: number }[] = commit ? await users.import(remaining) : remaining;
      const created = new Map(written.map(({ email, id }) => [email, id]));
      for (const user of remaining) if (created.has(user.email)) accept("new", user, created.get(user.email));
      // The others were registered since the lookup.
      remaining = await withoutTaken(remaining.filter(({ email }) => !created.has(email)));
    }
    if (commit && unmarked.length > 0) await users.markImported(unmarked);
    await options.onImported?.(imported.sort((a, b) => a.line - b.line));
    counts.rejected += rejections.length;
    for (const rejection of rejections.sort(([a], [b]) => a - b)) await onRejected(...rejection);
    [batch, rejections, unmarked, imported] = [[], [], [], []];
    // Every fourth time: otherwise the heap grows with the number of lines.
    if (counts.lines % (4 * BATCH_SIZE) < BATCH_SIZE) Bun.gc(true);
    // Leaves the embedded database to the service for as long as this batch has taken.
    if (commit) await Bun.sleep(performance.now() - startedMs);
  };

  for await (const lines of options.lines) {
    for (const { number: line, text, problem } of lines) {
      if (problem === null && text.trim() === "") continue;
      counts.lines += 1;
      const parsed = problem === null ? parseLine(text, options) : { user: problem, lastId };
      lastId = Math.max(lastId, parsed.lastId);
      const { user } = parsed;
      const reason = typeof user === "string" ? user : findDuplicate(user, line);
      if (typeof user === "string" || reason !== null) rejections.push([line, reason ?? ""]);
      else batch.push({ ...user, line });
      if (batch.length + rejections.length >= BATCH_SIZE) await flush();
    }
  }
  await flush();
  return { ...counts, formats, lastId };
}

export function increment(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/**
 * Returns a function that returns the first line that it got with a text. It keeps the line and 53 bits of a hash (of a million
 * lines, two collide with a probability of 0.01 %) in a table with open addressing, at most three quarters full.
 */
function createFirstLines() {
  let [hashes, lines] = [new Float64Array(1024), new Uint32Array(1024)];
  let texts = 0;
  const findOrStore = (hash: number, line: number): number => {
    let place = hash % lines.length;
    while (lines[place] !== 0 && hashes[place] !== hash) place = (place + 1) % lines.length;
    if (lines[place] === 0) [hashes[place], lines[place]] = [hash, line];
    return lines[place] ?? line;
  };
  return (text: string, line: number): number => {
    if (4 * ++texts > 3 * lines.length) {
      const old = { hashes, lines };
      [hashes, lines] = [new Float64Array(2 * lines.length), new Uint32Array(2 * lines.length)];
      for (const [place, hash] of old.hashes.entries())
        if (old.lines[place]) findOrStore(hash, old.lines[place]);
    }
    return findOrStore(Number(BigInt.asUintN(53, Bun.hash.wyhash(text))), line);
  };
}
