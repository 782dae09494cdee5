/**
 * Releases for upgrade checks: the previous one, this repository, and a synthetic later one, which is this repository with a
 * higher version and one more migration of PostgreSQL.
 */
import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import type { TemporaryFolder } from "@latchkey/testing/folder";
import { checkOutPreviousRelease, GATEWAY_MAIN, ROOT } from "@latchkey/testing/repository";

export interface Release {
  readonly version: string;
  /** The path of its gateway. */
  readonly main: string;
}

const readManifest = (root = ROOT): Promise<{ readonly version: string }> =>
  Bun.file(join(root, "package.json")).json();

/** The release that CHANGELOG.md names, with its native kernels. */
export async function openPreviousRelease(): Promise<Release & AsyncDisposable> {
  const checkout = await checkOutPreviousRelease();
  Bun.spawnSync([process.execPath, "run", "build:native"], { cwd: checkout.path });
  const { version } = await readManifest(checkout.path);
  // Not spread, because disposal is inherited.
  return Object.assign(checkout, { version, main: join(checkout.path, "apps/gateway/src/main.ts") });
}

/** This repository. */
export const currentRelease = async (): Promise<Release> => ({
  version: (await readManifest()).version,
  main: GATEWAY_MAIN,
});

/**
 * Copies the sources to the folder, under the version of a later release, and adds a migration with this statement. The
 * migration names this repository's release as the oldest compatible one.
 */
export async function createNextRelease(
  { path: root }: TemporaryFolder,
  statement: string,
): Promise<Release> {
  const manifest = await readManifest();
  const version = "999.0.0";
  for (const name of ["apps", "packages"]) {
    await cp(join(ROOT, name), join(root, name), { recursive: true, verbatimSymlinks: true });
  }
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  await Bun.write(join(root, "package.json"), JSON.stringify({ ...manifest, version }));

  const migrations = join(root, "packages/database/src/postgres/migrations");
  const journalFile = join(migrations, "meta/_journal.json");
  const journal: { readonly entries: readonly { readonly when: number }[] } =
    await Bun.file(journalFile).json();
  const latest = journal.entries.at(-1)?.when ?? 0;
  const entries = [...journal.entries, { when: latest + 1, tag: "synthetic", breakpoints: true }];
  await Bun.write(journalFile, JSON.stringify({ ...journal, entries }));
  const text = `-- Oldest compatible release: ${manifest.version}\n${statement};\n`;
  await Bun.write(join(migrations, "synthetic.sql"), text);
  return { version, main: join(root, "apps/gateway/src/main.ts") };
}
