/** The changelog against the history: every release that it names exists, and "previous release" is the latest one. */
import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "..");
const changelog = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
const RELEASE = /^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d\n\nCommit `([0-9a-f]{40})`/gm;
const releases = [...changelog.matchAll(RELEASE)].map(([, version, commit]) => ({ version, commit }));

/** The repository can belong to another user, as in CI, where the tests run as root. */
const git = (...args: string[]) =>
  Bun.spawnSync(["git", "-c", `safe.directory=${ROOT}`, "-C", ROOT, ...args]);

test("every release names an ancestor of this commit whose package.json has its version", () => {
  expect(releases).not.toBeEmpty();
  for (const { version, commit = "" } of releases) {
    expect(git("merge-base", "--is-ancestor", commit, "HEAD").exitCode).toBe(0);
    expect(JSON.parse(git("show", `${commit}:package.json`).stdout.toString())).toMatchObject({ version });
  }
});

test("the previous release is the latest one that the changelog names", () => {
  const [latest] = releases;
  expect(changelog).toContain(`\nPrevious release: ${latest?.version}, commit \`${latest?.commit}\`.\n`);
});
