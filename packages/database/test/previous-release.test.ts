/**
 * The previous release runs on the schema of this one: `rollout undo` works without a backup. The commit is named in
 * CHANGELOG.md. Its code passes its own conformance suite on databases that this release has migrated, with one more
 * migration: the schema is then newer even if this release has none. Run for another commit: PREVIOUS_COMMIT=… bun test.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { checkOutPreviousRelease, findPreviousRelease } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";
import { migrateWithExtra } from "./support/extra-migration.ts";

const { problem } = await findPreviousRelease();
if (problem !== null) process.stderr.write(`Skipped: ${problem}\n`);

test.skipIf(problem !== null && !process.env.CI)(
  "the previous release passes its own conformance suite on a database that this release has migrated",
  async () => {
    await using release = await checkOutPreviousRelease();
    const { version } = await Bun.file(join(release.path, "package.json")).json();
    await using folder = await openFolder();
    await migrateWithExtra(folder.databaseUrl, { oldestRelease: version });
    await querySqlite(folder.databaseUrl, "pragma wal_checkpoint(truncate)");
    const suite = ["test", "--timeout", "30000", "./support/previous-release-conformance.ts"];
    const { success, stderr } = Bun.spawnSync([process.execPath, ...suite], {
      cwd: import.meta.dir,
      env: { ...process.env, PREVIOUS_RELEASE: release.path, MIGRATED_DATABASE_URL: folder.databaseUrl },
      stderr: "pipe",
    });
    // `bun test` reports on standard error.
    const output = String(stderr);
    if (!success) throw new Error(`The suite failed:\n${output}`);
    expect(output).toContain("the PostgreSQL connection > ");
    expect(output).toContain("the libsql connection > ");
  },
  120_000,
);
