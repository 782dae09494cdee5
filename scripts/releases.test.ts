/** The changelog against the history: every release that it names exists, and "previous release" is the latest one. */
import { expect, test } from "bun:test";
import { git, parseReleases, readChangelog } from "@latchkey/testing/repository";

const changelog = await readChangelog();
const releases = parseReleases(changelog);

test("every release names an ancestor of this commit whose package.json has its version", () => {
  expect(releases).not.toBeEmpty();
  for (const { version, commit } of releases) {
    expect(git("merge-base", "--is-ancestor", commit, "HEAD").exitCode).toBe(0);
    expect(JSON.parse(git("show", `${commit}:package.json`).stdout.toString())).toMatchObject({ version });
  }
});

test("the previous release is the latest one that the changelog names", () => {
  const [latest] = releases;
  expect(changelog).toContain(`\nPrevious release: ${latest?.version}, commit \`${latest?.commit}\`.\n`);
});
