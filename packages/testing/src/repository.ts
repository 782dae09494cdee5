/** Paths in this repository, and checkouts of the releases that CHANGELOG.md names. */
import { join, resolve } from "node:path";
import { openFolder } from "./folder.ts";

export const ROOT = resolve(import.meta.dir, "../../..");

/** What benchmarks measure: this repository, or the checkout of `bun run bench NAME --baseline CHECKOUT`. */
export const CHECKOUT = process.env.BENCH_CHECKOUT ?? ROOT;

/** The gateway's entry point. */
export const GATEWAY_MAIN = join(CHECKOUT, "apps/gateway/src/main.ts");

/** The entry point of the admin tool. */
export const ADMIN_MAIN = join(CHECKOUT, "apps/admin/src/main.ts");

const RELEASE = /^## \[(\d+\.\d+\.\d+)\] - \d{4}-\d\d-\d\d\n\nCommit `([0-9a-f]{40})`/gm;

/** The repository can belong to another user, as in CI, where the tests run as root. */
export const git = (...args: string[]) =>
  Bun.spawnSync(["git", "-c", `safe.directory=${ROOT}`, "-C", ROOT, ...args]);

export const readChangelog = (): Promise<string> => Bun.file(join(ROOT, "CHANGELOG.md")).text();

/** Returns the releases that the changelog names, the latest one first. */
export const parseReleases = (changelog: string) =>
  [...changelog.matchAll(RELEASE)].map(([, version = "", commit = ""]) => ({ version, commit }));

interface Release {
  readonly commit: string;
  /** Why the release cannot be checked out; null: it can. */
  readonly problem: string | null;
}

/** Returns the releases, the latest one first. PREVIOUS_COMMIT replaces them by one commit. */
export async function findReleases(): Promise<readonly Release[]> {
  const given = process.env.PREVIOUS_COMMIT;
  const releases = given ? [{ commit: given }] : parseReleases(await readChangelog());
  return releases.map(({ commit }) => {
    const isHere = git("cat-file", "-e", `${commit}^{commit}`).success;
    const problem = `The commit of a release (${commit}) is not in this clone. Run git fetch --unshallow.`;
    return { commit, problem: isHere ? null : problem };
  });
}

/** Checks out a release in a temporary folder and installs its dependencies, without native kernels. */
export async function checkOutRelease({ commit, problem }: Release) {
  if (problem !== null) throw new Error(problem);
  await using resources = new AsyncDisposableStack();
  const path = join(resources.use(await openFolder()).path, "release");
  resources.defer(() => void git("worktree", "remove", "--force", path));
  const added = git("worktree", "add", "--detach", path, commit);
  if (!added.success) throw new Error(`git worktree failed: ${added.stderr}`);
  const install = [process.execPath, "install", "--frozen-lockfile", "--ignore-scripts"];
  const installed = Bun.spawnSync(install, { cwd: path, stderr: "pipe" });
  if (!installed.success) throw new Error(`bun install failed: ${installed.stderr}`);
  return Object.assign(resources.move(), { path });
}
