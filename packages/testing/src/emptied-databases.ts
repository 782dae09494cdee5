/**
 * Migrated PostgreSQL databases that are emptied for the next test, which costs a tenth of a new one. A database whose schema a
 * test has changed is not used again.
 */
import { SUPERUSER } from "./postgres-data.ts";

/** A migration gives each database a key of its own. */
export const REPLACE_KEY = "update digest_keys set key = gen_random_uuid()::text";

/** Makes a database whose schema is unchanged as new. `truncate` costs four times as much as `delete` with few rows. */
const EMPTY = `
  do $$ declare name regclass; begin
    -- Disables the triggers of users, as in a new database.
    update events_state set days = null;
    delete from events_state;
    for name in select c.oid from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
      and relname <> 'digest_keys' and relname not like '\\_\\_%' loop
      execute 'delete from ' || name;
    end loop;
    perform setval(c.oid, 1, false) from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'S'
      and relname not like '\\_\\_%';
    update __latchkey_migrations set oldest_release = '1.0.0' where oldest_release = '2.1.0-0';
    ${REPLACE_KEY};
  end $$`;

/** Statements that leave rows as they are, or change them only. */
const KEEPS_SCHEMA = /^\s*(delete|insert|select|update|with)\b[^;]*$/i;

/** A database that no other test uses until it is disposed. */
export interface EmptiedDatabase extends AsyncDisposable {
  readonly url: string;
  /** Runs SQL as the superuser. */
  query<Row>(sql: string): Promise<Row[]>;
  /** Whether a test has changed the schema: the database is not used again. */
  isChanged(): boolean;
}

/**
 * Returns a function that opens an empty database.
 * @param createMigrated returns the URL of a new database with the current schema
 */
export function createEmptiedDatabases(
  createMigrated: () => Promise<string>,
): () => Promise<EmptiedDatabase> {
  const unused: { readonly url: string; readonly superuser: Bun.SQL }[] = [];
  const create = async () => {
    const url = await createMigrated();
    return { url, superuser: new Bun.SQL(url, { ...SUPERUSER, max: 1 }) };
  };
  return async () => {
    const database = unused.pop() ?? (await create());
    const { url, superuser } = database;
    await superuser.unsafe(EMPTY);
    let isChanged = false;
    return {
      url,
      query: async <Row>(sql: string) => {
        isChanged ||= !KEEPS_SCHEMA.test(sql);
        return (await superuser.unsafe(sql)) as Row[];
      },
      isChanged: () => isChanged,
      [Symbol.asyncDispose]: async () => {
        if (isChanged) await superuser.close();
        else unused.push(database);
      },
    };
  };
}
