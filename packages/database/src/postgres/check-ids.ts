/**
 * Compares the sequences of the identity columns with their tables. Logical replication copies rows, but no sequences: every new
 * row would get the id of another one.
 */
import { sql } from "drizzle-orm";
import { IdsBehind } from "../errors.ts";
import { IDENTITY_TABLES } from "../maintenance/raise-ids.ts";
import type { RepositoryClient } from "../repositories/repository-client.ts";
import { dialect } from "./dialect.ts";

const one = sql`(select 1) as one`;

/** @throws IdsBehind */
export async function checkIds({ orm, prepare }: Pick<RepositoryClient, "orm" | "prepare">): Promise<void> {
  for (const name of IDENTITY_TABLES) {
    const sequence = `public.${name}_id_seq`;
    // Writing rows needs no privilege on the sequence of an identity column.
    const isReadable = sql<boolean>`coalesce(has_sequence_privilege(to_regclass(${sequence})::oid, 'select'), false)`;
    const [privilege] = await prepare(orm.select({ isReadable }).from(one))({});
    if (!privilege?.isReadable) continue;
    const { id } = dialect.tables[name];
    // The table is read first: another process takes an id before its row is visible.
    const highest = sql<number | string | null>`max(${id})`;
    const [rows] = await prepare(orm.select({ highest }).from(dialect.tables[name]))({});
    // While `is_called` is false, `last_value` has not been used yet.
    const last = sql<number | string>`last_value - (not is_called)::int`;
    const [state] = await prepare(orm.select({ last }).from(sql.raw(sequence)))({});
    if (Number(rows?.highest ?? 0) > Number(state?.last)) throw new IdsBehind(name);
  }
}
