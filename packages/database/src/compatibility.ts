/**
 * Decides whether this release can run on a schema that a later release has migrated. Each migration names the oldest
 * release that can run on the migrated schema. The database stores the version of that release, because this release does
 * not have the files of later migrations. The rules are in CONTRIBUTING.md.
 */
import { version as RELEASE } from "../../../package.json";
import { SchemaTooNew } from "./errors.ts";

/** A row of `__latchkey_migrations`. */
export interface MigrationRecord {
  /** The migration's time, as in Drizzle's table `__drizzle_migrations`. */
  readonly createdAt: number;
  /** null: the migrated schema is not compatible with any earlier release. */
  readonly oldestRelease: string | null;
}

const OLDEST_RELEASE = /^-- Oldest compatible release: (\d+\.\d+\.\d+(?:-[\w.]+)?)$/m;

/** Reads the line `-- Oldest compatible release: 1.2.3` at the beginning of a migration. */
export const parseOldestRelease = ([first = ""]: readonly string[]): string | null =>
  OLDEST_RELEASE.exec(first)?.[1] ?? null;

/**
 * @param unknown the time of each applied migration that is unknown to this release
 * @throws SchemaTooNew if one of these migrations is not compatible with this release
 */
export function assertCompatible(unknown: readonly number[], records: readonly MigrationRecord[]): void {
  const oldestReleases = new Map(records.map(({ createdAt, oldestRelease }) => [createdAt, oldestRelease]));
  for (const createdAt of unknown) {
    const oldest = oldestReleases.get(createdAt) ?? null;
    if (oldest === null || Bun.semver.order(RELEASE, oldest) < 0) throw new SchemaTooNew();
  }
}
