/**
 * The previous release runs on the schema of this one: `rollout undo` works without a backup. The commit is named in
 * CHANGELOG.md. Its code passes its own conformance suite on databases that this release has migrated, with one more
 * migration, so that the schema is newer even if this release has none. Run for another commit: PREVIOUS_COMMIT=… bun test.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { ROOT } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";
import { migrateWithExtra } from "./support/extra-migration.ts";

const PREVIOUS_RELEASE = /^Previous release: \d+\.\d+\.\d+, commit `([0-9a-f]{40})`\.$/m;

const changelog = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
const commit = process.env.PREVIOUS_COMMIT ?? PREVIOUS_RELEASE.exec(changelog)?.[1] ?? "";

/** The repository can belong to another user, as in CI, where the tests run as root. */
const git = (...args: string[]) =>
  Bun.spawnSync(["git", "-c", `safe.directory=${ROOT}`, "-C", ROOT, ...args]);

/** null if the test can run. */
const problem = git("cat-file", "-e", `${commit}^{commit}`).success
  ? null
  : `The commit of the previous release (${commit || "not named in CHANGELOG.md"}) is not in this clone. Run git fetch --unshallow.`;
if (problem !== null) process.stderr.write(`Skipped: ${problem}\n`);

/** Returns what the command wrote to standard error, where `bun test` reports. */
function bun(cwd: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string {
  const child = Bun.spawnSync([process.execPath, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stderr: "pipe",
  });
  if (!child.success) throw new Error(`bun ${args.join(" ")} failed:\n${child.stderr}`);
  return String(child.stderr);
}

async function checkOut() {
  const folder = await openFolder();
  const path = join(folder.path, "release");
  expect(git("worktree", "add", "--detach", path, commit).success).toBe(true);
  return {
    path,
    [Symbol.asyncDispose]: async () => {
      git("worktree", "remove", "--force", path);
      await folder[Symbol.asyncDispose]();
    },
  };
}

test.skipIf(problem !== null && !process.env.CI)(
  "the previous release passes its own conformance suite on a database that this release has migrated",
  async () => {
    if (problem !== null) throw new Error(problem);
    await using release = await checkOut();
    bun(release.path, ["install", "--frozen-lockfile", "--ignore-scripts"]);

    const { version } = await Bun.file(join(release.path, "package.json")).json();
    await using folder = await openFolder();
    await migrateWithExtra(folder.databaseUrl, { oldestRelease: version });
    await querySqlite(folder.databaseUrl, "pragma wal_checkpoint(truncate)");
    const output = bun(
      import.meta.dir,
      ["test", "--timeout", "30000", "./support/previous-release-conformance.ts"],
      { PREVIOUS_RELEASE: release.path, MIGRATED_DATABASE_URL: folder.databaseUrl },
    );
    expect(output).toContain("the PostgreSQL connection > ");
    expect(output).toContain("the libsql connection > ");
  },
  120_000,
);
