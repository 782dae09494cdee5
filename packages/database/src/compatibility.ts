/**
 * Which releases run on a migrated schema. Each migration names the oldest one, and migrating records it in the database,
 * because an earlier release does not have the migration's file. docs/migrations.md contains the rules.
 */
import { version as RELEASE } from "../../../package.json";
import { SchemaTooNew } from "./errors.ts";

/** A row of `__latchkey_migrations`. */
export interface MigrationRecord {
  /** The migration's time, as in Drizzle's table. */
  readonly createdAt: number;
  /** null: no earlier release is compatible. */
  readonly oldestRelease: string | null;
}

const OLDEST_RELEASE = /^-- Oldest compatible release: (\d+\.\d+\.\d+)$/m;

/** Reads the line `-- Oldest compatible release: 1.2.3` at the beginning of a migration. */
export const parseOldestRelease = ([first = ""]: readonly string[]): string | null =>
  OLDEST_RELEASE.exec(first)?.[1] ?? null;

/**
 * @param unknown times of applied migrations that this release does not have
 * @throws SchemaTooNew if one of them is not compatible with this release
 */
export function assertCompatible(unknown: readonly number[], records: readonly MigrationRecord[]): void {
  const oldestReleases = new Map(records.map(({ createdAt, oldestRelease }) => [createdAt, oldestRelease]));
  for (const createdAt of unknown) {
    const oldest = oldestReleases.get(createdAt) ?? null;
    if (oldest === null || Bun.semver.order(RELEASE, oldest) < 0) throw new SchemaTooNew();
  }
}
