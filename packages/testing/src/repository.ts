/** Paths in this repository, and a checkout of its previous release, which CHANGELOG.md names. */
import { join, resolve } from "node:path";
import { openFolder } from "./folder.ts";

export const ROOT = resolve(import.meta.dir, "../../..");

/** What benchmarks measure: this repository, or the checkout of `bun run bench NAME --baseline CHECKOUT`. */
export const CHECKOUT = process.env.BENCH_CHECKOUT ?? ROOT;

/** The gateway's entry point. */
export const GATEWAY_MAIN = join(CHECKOUT, "apps/gateway/src/main.ts");

const PREVIOUS_RELEASE = /^Previous release: \d+\.\d+\.\d+, commit `([0-9a-f]{40})`\.$/m;

/** The repository can belong to another user, as in CI, where the tests run as root. */
const git = (...args: string[]) =>
  Bun.spawnSync(["git", "-c", `safe.directory=${ROOT}`, "-C", ROOT, ...args]);

/** Returns PREVIOUS_COMMIT, by default the commit of the previous release. `problem` is null if it can be checked out. */
export async function findPreviousRelease() {
  const changelog = await Bun.file(join(ROOT, "CHANGELOG.md")).text();
  const commit = process.env.PREVIOUS_COMMIT ?? PREVIOUS_RELEASE.exec(changelog)?.[1] ?? "";
  const problem = git("cat-file", "-e", `${commit}^{commit}`).success
    ? null
    : `The commit of the previous release (${commit || "not named in CHANGELOG.md"}) is not in this clone. Run git fetch --unshallow.`;
  return { commit, problem };
}

/** Checks out the previous release in a temporary folder and installs its dependencies, without native kernels. */
export async function checkOutPreviousRelease() {
  const { commit, problem } = await findPreviousRelease();
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
