/** What operations on whole tables need from a database that no other session uses: copies, and changes after a restore. */
import { getTableColumns } from "drizzle-orm";
import type { getTableConfig, PgColumn, PgTable } from "drizzle-orm/pg-core";
import type { Dialect, Orm } from "../dialect.ts";
import { CopyRejected } from "../errors.ts";
import type { Select } from "../row-decoder.ts";

/** The `source` of a copy is only read. The `target` of a copy, or the `database` whose ids are raised, is migrated and written. */
export type SessionRole = "source" | "target" | "database";

export interface SessionTable {
  /** The name in SQL. */
  readonly name: string;
  readonly table: PgTable;
  /** For each column of the primary key: the name of the member in a row, and the column. */
  readonly keys: readonly (readonly [member: string, column: PgColumn])[];
}

/** A database that no other session uses. The session is one transaction. */
export interface ExclusiveSession {
  /** Sorted: a table comes after the tables to which its foreign keys refer. */
  readonly tables: readonly SessionTable[];
  readonly dialect: Dialect;
  readonly orm: Orm;
  readonly select: <Row>(query: Select<Row>) => Promise<Row[]>;
  /** Returns the highest id that a row of the table has ever had, or 0 if no row has ever had an id. */
  readonly lastId: (table: SessionTable) => Promise<number>;
  /** Makes the ids of new rows higher than `lastId`. A rollback of the transaction undoes this change. */
  readonly setLastId: (table: SessionTable, lastId: number) => Promise<void>;
  /** Converts an error of `orm` to a domain error. */
  readonly toDomainError: (error: unknown) => unknown;
}

export function describeTables(
  tables: Readonly<Record<string, PgTable>>,
  configOf: typeof getTableConfig,
): SessionTable[] {
  const described = Object.values(tables).map((table) => {
    const { name, columns, primaryKeys, foreignKeys } = configOf(table);
    const keyColumns = [columns.filter(({ primary }) => primary), primaryKeys.map((key) => key.columns)];
    const keyNames = keyColumns.flat(2).map((column) => column.name);
    const keys = Object.entries(getTableColumns(table)).filter(([, column]) =>
      keyNames.includes(column.name),
    );
    return { name, table, keys, foreignKeys };
  });
  // Foreign keys refer only to tables without foreign keys, so those tables come first. The report lists the tables in this
  // order.
  const byName = described.sort((a, b) => a.name.localeCompare(b.name));
  return byName.sort((a, b) => a.foreignKeys.length - b.foreignKeys.length);
}

/** A newer schema can have columns that this release does not know. @throws CopyRejected */
export function expectSchema(isCurrent: boolean, role: SessionRole): void {
  if (isCurrent) return;
  throw new CopyRejected(
    `The ${role} does not have the schema of this release: migrate it, or run its release.`,
  );
}
