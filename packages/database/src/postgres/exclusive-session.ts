/**
 * A PostgreSQL database for one session, which reads one snapshot, and fails if another session is connected. It locks all
 * tables to prevent changes by sessions that connect later. An idle connection of a pooler counts as another session, because
 * a client can use that connection at any time.
 */
import { parsePostgresUrl } from "@latchkey/contracts";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import { DatabaseUnavailable } from "../errors.ts";
import {
  describeTables,
  type ExclusiveSession,
  expectSchema,
  type SessionRole,
} from "../maintenance/exclusive-session.ts";
import { createRowDecoder, singleRow } from "../row-decoder.ts";
import { connect } from "./connection.ts";
import { dialect } from "./dialect.ts";
import { isLockTimeout, toDomainError } from "./errors.ts";
import { hasCurrentSchema, migrate, select } from "./migrate.ts";

const TABLES = describeTables(dialect.tables, getTableConfig);

/** The deadline of one statement, long enough to count the rows of a large table. */
const DEADLINE_MS = 600_000;

/** Autovacuum releases a lock after a second, and a session ends a moment after its connection was closed. */
const WAIT_MS = 3_000;
const PAUSE_MS = 50;

/**
 * Server processes such as autovacuum have no user and are not counted. Without `pg_stat_clear_snapshot`, all queries of a
 * transaction would return the same sessions.
 */
const OTHER_SESSION = sql`
  select min(pid) as process from pg_stat_activity, pg_stat_clear_snapshot()
  where datname = current_database() and pid <> pg_backend_pid() and usesysid is not null`;

const inUse = (role: SessionRole, session = "another session") =>
  new DatabaseUnavailable(
    "IN_USE",
    `${session} uses the ${role}; stop the service, and connect without a pooler`,
  );

const identityOf = (table: PgTable) =>
  getTableConfig(table).columns.find((column) => column.generatedIdentity);

/** Migrates the database before the transaction, unless `role` is `source`. @throws DatabaseUnavailable */
export async function withExclusiveSession<T>(
  url: string,
  role: SessionRole,
  work: (session: ExclusiveSession) => Promise<T>,
): Promise<T> {
  const address = parsePostgresUrl(url);
  if (role !== "source") await migrate({ address });
  const { sql: client } = connect({ address, deadlineMs: DEADLINE_MS, max: 1, prepare: false });
  try {
    expectSchema(await hasCurrentSchema(drizzle({ client })), role);
    return await client.begin("isolation level repeatable read", async (transaction) => {
      // The locks come before the first query, because the first query takes the snapshot.
      const mode = role === "source" ? "share" : "access exclusive";
      const begin = `set local lock_timeout = ${WAIT_MS}; set local idle_in_transaction_session_timeout = 0`;
      await transaction
        .unsafe(`${begin}; lock table ${TABLES.map(({ name }) => `public.${name}`)} in ${mode} mode`)
        .simple();
      const orm = drizzle({ client: transaction });
      const deadline = performance.now() + WAIT_MS;
      for (;;) {
        const { process } = singleRow(await select<{ process: number | null }>(orm, OTHER_SESSION));
        if (process === null) break;
        if (performance.now() > deadline) throw inUse(role, `another session (server process ${process})`);
        await Bun.sleep(PAUSE_MS);
      }
      return await work({
        tables: TABLES,
        dialect,
        orm,
        toDomainError,
        select: async (query) => {
          const { sql: text, params } = query.toSQL();
          const rows: unknown[][] = await transaction.unsafe(text, params).values();
          return rows.map(createRowDecoder(query._.selectedFields));
        },
        lastId: async ({ name, table }) => {
          const id = identityOf(table);
          if (!id) return 0;
          // While `is_called` is false, `last_value` has not been used yet.
          const query = sql`
            select greatest(last_value - (not is_called)::int, (select max(${id}) from ${table}))::float8 as "lastId"
            from public.${sql.identifier(`${name}_id_seq`)}`;
          return singleRow(await select<{ lastId: number }>(orm, query)).lastId;
        },
        setLastId: async ({ table }, lastId) => {
          const id = identityOf(table);
          const restart = sql.raw(`restart with ${lastId + 1}`);
          if (id)
            await orm.execute(sql`alter table ${table} alter column ${sql.identifier(id.name)} ${restart}`);
        },
      });
    });
  } catch (error) {
    const domainError = toDomainError(error);
    throw isLockTimeout(domainError) ? inUse(role) : domainError;
  } finally {
    await client.close({ timeout: 0 });
  }
}
