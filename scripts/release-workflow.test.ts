/** The release workflow: what runs code of the repository or of its dependencies has no token that writes. */
import { expect, test } from "bun:test";

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly permissions?: Readonly<Record<string, string>>;
  readonly steps?: readonly Step[];
}

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

const text = await Bun.file(new URL("../.github/workflows/release.yml", import.meta.url)).text();
// A workflow that is not of this form fails the test.
const { permissions, jobs } = Bun.YAML.parse(text) as Workflow;

test("only the job that uploads can write, and it checks nothing out and installs nothing", () => {
  expect(permissions).toEqual({ contents: "read" });
  const writing = Object.entries(jobs).filter(([, job]) => job.permissions);
  expect(writing.map(([name]) => name)).toEqual(["publish"]);
  for (const { uses, run } of jobs.publish?.steps ?? []) {
    expect(uses ?? "").not.toContain("checkout");
    expect(run ?? "").not.toMatch(/\b(npm|npx|bun|git|docker build|buildx build)\b/);
  }
});

test("no job keeps the credentials of a checkout, and Bun is the pinned one, by its digest", async () => {
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? []);
  const checkouts = steps.filter(({ uses }) => uses?.startsWith("actions/checkout@"));
  expect(checkouts).not.toBeEmpty();
  for (const checkout of checkouts) expect(checkout.with).toMatchObject({ "persist-credentials": false });
  for (const { uses } of steps) expect(uses ?? "pinned@").toMatch(/@([0-9a-f]{40})?$/);
  const { packageManager } = await Bun.file(new URL("../package.json", import.meta.url)).json();
  expect(text).toContain(`\n      BUN_VERSION: ${String(packageManager).replace("bun@", "")}\n`);
  expect(text).toMatch(/\n {6}BUN_SHA512: [\w+/]{86}==\n/);
  expect(text).toContain('= "$BUN_SHA512"\n');
  expect(steps.some(({ uses }) => uses?.includes("setup-bun"))).toBe(false);
});
