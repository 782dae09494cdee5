/**
 * Copies all tables of a database to an empty database. Each of the two can be PostgreSQL or libsql. Values are copied and
 * compared in the form that the repositories return, such as timestamps in UTC with milliseconds. Invariant: the target gets
 * all rows of the source, or no row.
 */
import { getTableColumns, sql } from "drizzle-orm";
import { CopyRejected, toCopyError } from "../errors.ts";
import { excludeEarlierReleases } from "../repositories/factors.ts";
import { singleRow } from "../row-decoder.ts";
import type { ExclusiveSession, SessionTable } from "./exclusive-session.ts";

type Row = Readonly<Record<string, unknown>>;

/** The number of rows of a table, and a digest that is independent of the order of the rows. */
export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
  readonly digest: string;
}

/** `rows` is the number of rows copied so far. `total` is the number of all rows of the table. */
export type OnCopyProgress = (table: string, rows: number, total: number) => void;

/** Limits the memory and the number of parameters of an INSERT. SQLite allows at most 32,766 parameters. */
const PAGE_ROWS = 1_000;

const CREATED_BY_MIGRATION = "digest_keys";

/** Copied last: with it, the target begins to record events. */
const RECORDING_STATE = "events_state";

async function* readPages(
  { orm, select }: ExclusiveSession,
  { table, keys }: SessionTable,
): AsyncGenerator<Row[]> {
  const columns = keys.map(([, column]) => column);
  for (let last: Row | undefined; ; ) {
    const values = keys.map(([member, column]) => sql.param(last?.[member], column));
    const after = sql`(${sql.join(columns, sql`, `)}) > (${sql.join(values, sql`, `)})`;
    const rows = orm
      .select()
      .from(table)
      .where(last && after);
    const page = await select(rows.orderBy(...columns).limit(PAGE_ROWS));
    if (page.length > 0) yield page;
    if (page.length < PAGE_ROWS) return;
    last = page.at(-1);
  }
}

/** The digest of a table is the sum of the digests of all rows. */
async function digestRows(
  session: ExclusiveSession,
  table: SessionTable,
  onPage: (page: Row[], rows: number) => Promise<void> | void = () => {},
): Promise<CopiedTable> {
  const members = Object.keys(getTableColumns(table.table)).sort();
  let [rows, sum] = [0, 0n];
  for await (const page of readPages(session, table)) {
    for (const row of page) {
      const text = JSON.stringify(members.map((member) => row[member]));
      sum += BigInt(`0x${Bun.SHA256.hash(text, "hex")}`);
    }
    rows += page.length;
    await onPage(page, rows);
  }
  return { table: table.name, rows, digest: BigInt.asUintN(256, sum).toString(16).padStart(64, "0") };
}

const countRows = async ({ orm, select }: ExclusiveSession, { table }: SessionTable): Promise<number> =>
  singleRow(await select(orm.select({ rows: sql<number>`cast(count(*) as integer)` }).from(table))).rows;

/** The caller commits the transaction of the target. @throws CopyRejected */
export async function copyTables(
  source: ExclusiveSession,
  target: ExclusiveSession,
  onProgress: OnCopyProgress = () => {},
): Promise<CopiedTable[]> {
  const copied: CopiedTable[] = [];
  const isState = ({ name }: SessionTable) => Number(name === RECORDING_STATE);
  for (const into of target.tables.toSorted((a, b) => isState(a) - isState(b))) {
    const table = source.tables.find(({ name }) => name === into.name);
    if (!table) throw new Error(`The schemas differ: ${into.name}`);
    // The migration of the target has created these rows. No other row of an empty database depends on them.
    if (into.name === CREATED_BY_MIGRATION) await target.orm.delete(into.table).execute();
    // A token of a user who was deleted in the target could give access to a copied user with the same id.
    if ((await countRows(target, into)) > 0 || (await target.lastId(into)) > 0)
      throw new CopyRejected(
        `The target has rows, or had some, in the table ${into.name}: specify a new database.`,
      );
    const total = await countRows(source, table);
    const read = await digestRows(source, table, async (page, rows) => {
      const insert = target.orm.insert(into.table).values(page);
      await insert.execute().catch((error) => {
        throw toCopyError(target.toDomainError(error), table.name);
      });
      onProgress(table.name, rows, total);
    });
    await target.setLastId(into, await source.lastId(table));
    const stored = await digestRows(target, into);
    if (read.rows !== total || !Bun.deepEquals(read, stored))
      throw new CopyRejected(`The target does not return the same rows of the table ${table.name}.`);
    copied.push(stored);
  }
  if (copied.some(({ table, rows }) => table === "factors" && rows > 0))
    await excludeEarlierReleases(target.orm, target.dialect);
  return copied;
}
