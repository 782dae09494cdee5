/**
 * Imports the lines of a file in small, atomic batches. A user who already exists with the values of the line counts as imported,
 * so an interrupted import can be resumed by running the import again. Only the number and two hashes of each line stay in
 * memory.
 */
import { emailForms, toAsciiEmail } from "@latchkey/contracts";
import { isImported, type Timestamp, type User, type UserRepository } from "@latchkey/database";
import type { Line } from "./lines.ts";
import { differences, type LineUser, parseLine } from "./user-line.ts";

/** Writing a batch locks the embedded database for about 20 ms. */
const BATCH_SIZE = 500;

export interface ImportOptions {
  readonly lines: AsyncIterable<readonly Line[]>;
  readonly users: UserRepository;
  /** Whether users are written. */
  readonly commit: boolean;
  readonly usernameFromEmail: boolean;
  /** Whether users who registered here keep the account if the source has not verified the e-mail address. */
  readonly keepRegistered: boolean;
  /** Users who were created before this time count as imported. */
  readonly importedBefore: Timestamp | undefined;
  /** Receives the imported users of a batch, in ascending order of lines. */
  onImported?(users: readonly ImportedLine[]): Promise<void>;
  /** Receives the number of a rejected line and the reason as a sentence, in ascending order of lines. */
  onRejected(line: number, reason: string): Promise<void>;
  /** Receives the number of a line that is skipped because its user gave up the e-mail address. */
  onDeleted(line: number): void;
}

type ImportedLine = Readonly<Record<"line" | "id", number>> & { readonly email: string };
type NumberedUser = LineUser & { readonly line: number };

/**
 * Returns the numbers of users. `new`: created, or without `commit` could be created. `existing`: imported before with the same
 * values. `formats`: new and existing users by hash format. `registered`: registered here, and keep the account. `deleted`: gave
 * up the e-mail address, for example by deleting the account. `lastId` is the highest id of the source.
 */
export async function importUsers(options: ImportOptions) {
  const { users, commit, keepRegistered, importedBefore = "", onRejected, onDeleted } = options;
  const counts = { lines: 0, new: 0, existing: 0, registered: 0, deleted: 0, rejected: 0 };
  let lastId = 0;
  const formats: Record<string, number> = {};
  const [firstWithEmail, firstWithUsername] = [createFirstLines(), createFirstLines()];
  let batch: NumberedUser[] = [];
  let rejections: [line: number, reason: string][] = [];
  /** The ids of users who were imported by a release without the column `imported_at`. */
  let unmarked: number[] = [];
  let imported: ImportedLine[] = [];

  /** @param id undefined if the user is new and was not written */
  const accept = (outcome: "new" | "existing", { line, email, format }: NumberedUser, id?: number) => {
    counts[outcome] += 1;
    formats[format] = (formats[format] ?? 0) + 1;
    if (id !== undefined) imported.push({ line, email, id });
  };

  const findDuplicate = ({ email, username }: LineUser, line: number): string | null => {
    const sameEmail = firstWithEmail(email, line);
    if (sameEmail !== line) return `The e-mail address, ignoring case, is that of line ${sameEmail}.`;
    const sameUsername = firstWithUsername(username, line);
    return sameUsername === line ? null : `The username is that of line ${sameUsername}.`;
  };

  /** Compares a line with the existing user. Counts the user, or returns the reason why the line is rejected. */
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

  /** Returns the candidates who are new. Counts or rejects those who exist, gave up the e-mail, or have a taken username. */
  const withoutTaken = async (candidates: readonly NumberedUser[]): Promise<NumberedUser[]> => {
    if (candidates.length === 0) return [];
    const emails = candidates.map(({ email }) => email);
    const usernames = candidates.map(({ username }) => username);
    const taken = await users.findTaken({ emails: emails.flatMap(emailForms), usernames });
    const byEmail = new Map(taken.map((user) => [toAsciiEmail(user.email), user]));
    const takenNames = new Set(taken.map(({ username }) => username));
    const deleted = new Set(await users.findDeleted(emails));
    return candidates.filter((user) => {
      const existing = byEmail.get(user.email);
      let reason: string | null = null;
      if (existing) reason = compare(existing, user);
      else if (deleted.has(user.email)) {
        counts.deleted += 1;
        onDeleted(user.line);
      } else if (takenNames.has(user.username)) reason = "The username belongs to another user.";
      else return true;
      if (reason !== null) rejections.push([user.line, reason]);
      return false;
    });
  };

  const flush = async () => {
    const startedMs = performance.now();
    // The last id is raised before users are written, because a user who registers during the import must not get an id of the
    // source.
    if (commit && lastId > 0) await users.raiseLastId(lastId);
    for (let remaining = await withoutTaken(batch); remaining.length > 0; ) {
      const written: { email: string; id?: number }[] = commit ? await users.import(remaining) : remaining;
      const created = new Map(written.map(({ email, id }) => [email, id]));
      for (const user of remaining) if (created.has(user.email)) accept("new", user, created.get(user.email));
      // `import` skips a user whose e-mail or username was taken or given up after the lookup. This user is looked up again.
      remaining = await withoutTaken(remaining.filter(({ email }) => !created.has(email)));
    }
    if (commit && unmarked.length > 0) await users.markImported(unmarked);
    await options.onImported?.(imported.sort((a, b) => a.line - b.line));
    counts.rejected += rejections.length;
    for (const rejection of rejections.sort(([a], [b]) => a - b)) await onRejected(...rejection);
    [batch, rejections, unmarked, imported] = [[], [], [], []];
    // Garbage is collected in every fourth batch: otherwise, the heap would grow with the number of lines.
    if (counts.lines % (4 * BATCH_SIZE) < BATCH_SIZE) Bun.gc(true);
    // Pauses for as long as this batch has taken, because the service needs the embedded database.
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

/**
 * Returns a function that receives a text and its line number, and returns the number of the first line with this text. A hash
 * table with open addressing, at most three quarters full, stores this number and 53 bits of the hash of each text. Among a
 * million texts, two hashes collide with a probability of 0.01 %.
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
