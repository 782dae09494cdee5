/**
 * Applies the generated migrations. One connection holds an advisory lock, so only one replica migrates at a time. A second
 * connection runs each statement (in an empty database: each migration) in a transaction of its own. A statement waits only
 * briefly for the lock on a table, because all later queries on the table wait behind that statement.
 */
import { fileURLToPath } from "node:url";
import type { PostgresAddress } from "@latchkey/contracts";
import type { SQL as Client } from "bun";
import { type SQL, sql } from "drizzle-orm";
import { type BunSQLDatabase, drizzle } from "drizzle-orm/bun-sql";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { assertCompatible, type MigrationRecord, parseOldestRelease } from "../compatibility.ts";
import type { SchemaState } from "../database.ts";
import { toMigrationError, UnsupportedDatabaseServer } from "../errors.ts";
import { singleRow } from "../row-decoder.ts";
import { withDeadline } from "./client.ts";
import { connect, type PreparedStatements } from "./connection.ts";
import { isLockTimeout, isLostStatement, toDomainError } from "./errors.ts";
import { TRIGGER_STATEMENTS } from "./triggers.ts";

const MIGRATIONS_FOLDER = fileURLToPath(new URL("./migrations", import.meta.url));

/** Long enough for another replica to finish a migration that rewrites a large table. */
const DEADLINE_MS = 60_000;

/**
 * Queries wait behind a statement that waits for a lock. The timeout is shorter than the deadline of a ping, because a ping
 * can wait behind such queries.
 */
const LOCK_TIMEOUT_MS = 300;

const RETRY_PAUSE_MS = 1_000;

/** A random number, to avoid conflicts with the advisory locks of other applications in the same database. */
const LOCK_KEY = 7_224_011_906;

/** With a stricter level, a replica that waited for the lock would not see the migrations that another one applied before. */
const READ_COMMITTED = { isolationLevel: "read committed" } as const;

const MIN_VERSION = { number: 140_000, name: "14" };

const POOLER_MESSAGE =
  "The connection leads through a pooler: statements are not prepared, because some poolers mix them up. If this one supports prepared statements, set DATABASE_PREPARED_STATEMENTS=true; otherwise, set it to false to remove this message.";

type Orm = Pick<BunSQLDatabase, "execute">;

interface Progress extends MigrationRecord {
  readonly appliedStatements: number;
}

interface MigrateOptions {
  readonly address: PostgresAddress;
  /** Migrations prepare statements only in the mode `true`. @default the mode `auto` */
  readonly preparedStatements?: PreparedStatements;
  /** Receives a message for each attempt that did not get a lock on a table, and messages about a connection pooler. */
  readonly log?: ((message: string) => void) | undefined;
  /** @default the migrations of this release */
  readonly migrationsFolder?: string;
  /** In milliseconds. @default 60000 */
  readonly deadlineMs?: number;
}

/** @throws UnsupportedDatabaseServer */
export function checkServer({ version, encoding }: { version: number; encoding: string }): void {
  if (version < MIN_VERSION.number) {
    throw new UnsupportedDatabaseServer(`PostgreSQL ${MIN_VERSION.name} or later is required.`);
  }
  if (encoding !== "UTF8") {
    throw new UnsupportedDatabaseServer(`the encoding of the database must be UTF8, not ${encoding}.`);
  }
}

/**
 * Two connections prepare different statements under one name. A pooler in transaction mode gives both connections the same
 * server connection. If the pooler does not support prepared statements, the server then reports a duplicate or missing
 * statement. The check can miss such a pooler if the connections lead to different poolers.
 * @throws UnsupportedDatabaseServer
 */
async function checkPreparedStatements(client: Client): Promise<void> {
  using first = await client.reserve();
  using second = await client.reserve();
  try {
    await first.unsafe("select $1::int as first", [1]);
    await second.unsafe("select $1::int as second", [1]);
    await first.unsafe("select $1::int as first", [1]);
  } catch (error) {
    const domainError = toDomainError(error);
    if (!isLostStatement(domainError)) throw domainError;
    throw new UnsupportedDatabaseServer(
      "the connection pooler does not support prepared statements in transaction mode. Use PgBouncer 1.21 or later with max_prepared_statements above 0, session mode, or DATABASE_PREPARED_STATEMENTS=auto.",
    );
  }
}

/** The cast is safe because `Row` names the columns that the caller's query selects. */
export async function select<Row>(orm: Orm, query: SQL): Promise<Row[]> {
  const rows = await orm.execute(query);
  return rows as Row[];
}

async function hasTable(orm: Orm, table: string): Promise<boolean> {
  const found = sql`select to_regclass(${`public.${table}`}::text) is not null as exists`;
  return singleRow(await select<{ exists: boolean }>(orm, found)).exists;
}

/** Returns no rows if the table is missing: `create table if not exists` needs a privilege even if the table exists. */
async function selectIfExists<Row>(orm: Orm, table: string, columns: string): Promise<Row[]> {
  return (await hasTable(orm, table)) ? select(orm, sql.raw(`select ${columns} from public.${table}`)) : [];
}

/** Returns the time of each applied migration: when the migration was generated, not when it was applied. */
async function readHistory(orm: Orm): Promise<number[]> {
  const time = `created_at::float8 as "createdAt"`;
  const rows = await selectIfExists<{ createdAt: number }>(orm, "__drizzle_migrations", time);
  return rows.map(({ createdAt }) => createdAt);
}

const readProgress = (orm: Orm): Promise<Progress[]> =>
  selectIfExists(
    orm,
    "__latchkey_migrations",
    `created_at::float8 as "createdAt", oldest_release as "oldestRelease", applied_statements as "appliedStatements"`,
  );

/** Whether the database has exactly the schema of this release. */
export async function hasCurrentSchema(orm: Orm): Promise<boolean> {
  const latest = readMigrationFiles({ migrationsFolder: MIGRATIONS_FOLDER }).at(-1)?.folderMillis;
  return Math.max(...(await readHistory(orm))) === latest;
}

/** Must run in a transaction. Records the progress first, to hold the locks of the statements as briefly as possible. */
async function applyStatements(
  orm: Orm,
  { folderMillis, hash, sql: all }: MigrationMeta,
  [first, end]: readonly [first: number, end: number],
): Promise<void> {
  await orm.execute(sql.raw(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`));
  await orm.execute(sql.raw(`set local statement_timeout = ${DEADLINE_MS}`));
  await orm.execute(sql`set local search_path = public`);
  // The columns of `__drizzle_migrations` do not change, because earlier releases use the table. `__latchkey_migrations`
  // contains the additional columns.
  await orm.execute(sql`
    create table if not exists public.__drizzle_migrations
    (id bigint primary key generated by default as identity, hash text not null, created_at bigint not null)`);
  await orm.execute(sql`
    create table if not exists public.__latchkey_migrations
    (created_at bigint primary key, oldest_release text, applied_statements integer not null default 0)`);
  await orm.execute(sql`
    insert into public.__latchkey_migrations (created_at, oldest_release, applied_statements)
    values (${folderMillis}::bigint, ${parseOldestRelease(all)}::text, ${end}::integer)
    on conflict (created_at) do update set applied_statements = excluded.applied_statements`);
  if (end === all.length) {
    await orm.execute(sql`
      insert into public.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis}::bigint)`);
  }
  for (const statement of all.slice(first, end)) await orm.execute(sql.raw(statement));
  // In the transaction that ends the migration, so that no start of the service finds it without the triggers.
  if (end === all.length && (await hasTable(orm, "events_state")))
    for (const statement of TRIGGER_STATEMENTS) await orm.execute(sql.raw(statement));
}

/** Repeats an attempt that did not get a lock, if the next attempt would end before the deadline. */
async function retryLockTimeouts(attempt: () => Promise<void>, deadline: number, log: MigrateOptions["log"]) {
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt();
    } catch (error) {
      const domainError = toDomainError(error);
      const nextEndsAt = performance.now() + RETRY_PAUSE_MS + LOCK_TIMEOUT_MS;
      if (!isLockTimeout(domainError) || nextEndsAt >= deadline) throw domainError;
      log?.(
        `Migration: another transaction holds a lock on the table. Attempt ${attempts} ended after ${LOCK_TIMEOUT_MS} ms; the next one starts in ${RETRY_PAUSE_MS} ms.`,
      );
    }
    await Bun.sleep(RETRY_PAUSE_MS);
  }
}

interface Migrator extends Pick<MigrateOptions, "log"> {
  readonly orm: BunSQLDatabase;
  readonly lockHolder: Orm;
  readonly migrations: readonly MigrationMeta[];
  readonly deadline: number;
  readonly isDirect: boolean;
}

async function applyMigrations(migrator: Migrator): Promise<SchemaState> {
  const { orm, lockHolder, migrations, deadline, isDirect, log } = migrator;
  const server = sql`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      current_setting('statement_timeout') = '0' as "isUnlimited",
      current_setting('default_transaction_isolation') as isolation`;
  type Settings = Parameters<typeof checkServer>[0] & {
    readonly isUnlimited: boolean;
    readonly isolation: string;
  };
  const settings = singleRow(await select<Settings>(lockHolder, server));
  checkServer(settings);
  if (settings.isUnlimited) {
    log?.(
      "The connection pooler ignores statement_timeout: set it for the role, as described in docs/production.md.",
    );
  }
  if (!isDirect && settings.isolation !== "read committed") {
    log?.(
      `The default isolation level is ${settings.isolation}, and the connection leads through a pooler: set default_transaction_isolation for the role, as described in docs/production.md.`,
    );
  }
  await lockHolder.execute(sql.raw(`set local statement_timeout = ${DEADLINE_MS}`));
  await lockHolder.execute(sql`set local idle_in_transaction_session_timeout = 0`);
  await lockHolder.execute(sql`select pg_advisory_xact_lock(${LOCK_KEY}::bigint)`);

  const latestKnown = migrations.at(-1)?.folderMillis ?? 0;
  const history = await readHistory(lockHolder);
  const lastApplied = Math.max(0, ...history);
  // This check comes before the first query on `__latchkey_migrations`, because this database user can lack privileges on a
  // table that another user created.
  if (lastApplied === latestKnown) return "current";
  const progress = await readProgress(lockHolder);
  if (lastApplied > latestKnown) {
    const unknown = history.filter((createdAt) => createdAt > latestKnown);
    assertCompatible(unknown, progress);
    return "newer";
  }
  for (const migration of migrations.filter(({ folderMillis }) => folderMillis > lastApplied)) {
    const total = migration.sql.length;
    // In an empty database, one transaction runs a whole migration, because an error must not leave only some of the tables.
    // The longer locks do not matter, because no replica uses an empty database.
    const statementsPerTransaction = history.length === 0 ? total : 1;
    const resumed = progress.find(({ createdAt }) => createdAt === migration.folderMillis);
    for (let first = resumed?.appliedStatements ?? 0; first < total; first += statementsPerTransaction) {
      const range = [first, first + statementsPerTransaction] as const;
      const attempt = () =>
        orm.transaction((transaction) => applyStatements(transaction, migration, range), READ_COMMITTED);
      await retryLockTimeouts(attempt, deadline, log);
    }
  }
  return "current";
}

/** @throws UnsupportedDatabaseServer, SchemaTooNew, MigrationRejected, DatabaseUnavailable */
export async function migrate({
  address,
  preparedStatements = { mode: "auto" },
  log,
  migrationsFolder = MIGRATIONS_FOLDER,
  deadlineMs = DEADLINE_MS,
}: MigrateOptions): Promise<SchemaState> {
  const deadline = performance.now() + deadlineMs;
  const migrations = readMigrationFiles({ migrationsFolder });
  const prepare = preparedStatements.mode === "true";
  const { sql: client, begin } = connect({ address, deadlineMs, max: 2, prepare });
  const orm = drizzle({ client });
  try {
    if (prepare) await withDeadline(checkPreparedStatements(client), deadlineMs);
    const { isDirect } = await withDeadline(begin(), deadlineMs);
    if (preparedStatements.mode === "auto" && !isDirect) {
      preparedStatements.mode = "false";
      log?.(POOLER_MESSAGE);
    }
    return await withDeadline(
      orm.transaction(
        (lockHolder) => applyMigrations({ orm, lockHolder, migrations, deadline, isDirect, log }),
        READ_COMMITTED,
      ),
      deadlineMs,
    );
  } catch (error) {
    throw toMigrationError(toDomainError(error));
  } finally {
    await client.close({ timeout: 0 });
  }
}
