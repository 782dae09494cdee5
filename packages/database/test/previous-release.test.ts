/**
 * Each release runs on the schema of the current code: `rollout undo` works without a backup. CHANGELOG.md names their commits. The
 * code of a release passes its own conformance suite on databases that the current code has migrated, with one more migration: the
 * schema is then newer even if the current code has no new one. Run for another commit: PREVIOUS_COMMIT=… bun test.
 */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { checkOutRelease, findReleases } from "@latchkey/testing/repository";
import { querySqlite } from "@latchkey/testing/sqlite";
import { migrateWithExtra } from "./support/extra-migration.ts";

const releases = await findReleases();
const problem = releases.find((release) => release.problem !== null)?.problem;
if (problem) process.stderr.write(`Skipped: ${problem}\n`);

const releaseTest = test.skipIf(Boolean(problem) && !process.env.CI);
inFullRun(releaseTest).each(releases)(
  "release $commit passes its own conformance suite on a database that the current code has migrated",
  passesItsOwnSuite,
);

async function passesItsOwnSuite(named: (typeof releases)[number]): Promise<void> {
  await using release = await checkOutRelease(named);
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
}
