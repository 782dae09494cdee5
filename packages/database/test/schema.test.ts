/** The migrations of both databases match the tables, create their indexes, and move what they replace. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { openDatabase } from "../src/index.ts";
import { migrateBefore } from "./support/extra-migration.ts";
import { openLibsqlTestDatabase } from "./support/libsql-database.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";

const server = await sharedPostgresServer();

const INDEXES = [
  ...[
    "events_created_at",
    "events_unnumbered",
    "factors_key_id",
    "identities_user_id",
    "outbox_email_digest",
    "outbox_next_attempt_at",
  ],
  ...[
    "outbox_user_state",
    "outbox_verified",
    "passkeys_user_id",
    "users_imported_index",
    "users_inactive_index",
  ],
  ...["users_roles_index", "users_username_prefix"],
].map((name) => ({ name }));

/** The index of the unique e-mails of libsql also finds the e-mails with a prefix. That of PostgreSQL has another collation. */
const POSTGRES_INDEX = { name: "users_email_prefix" };

test("both databases have the same indexes in addition to those of constraints, and PostgreSQL one for the prefixes of e-mails", async () => {
  await using libsql = await openLibsqlTestDatabase();
  await using postgres = await openPostgresTestDatabase(server);
  const created =
    "select name from sqlite_schema where type = 'index' and sql not like '%unique%' order by 1";
  expect(await libsql.query<object>(created)).toEqual(INDEXES);
  const unnamed =
    "select indexname as name from pg_indexes where schemaname = 'public' and indexdef not like '%UNIQUE%'";
  const ofPostgres = await postgres.query<object>(`${unnamed} order by 1`);
  expect(ofPostgres).toContainEqual(POSTGRES_INDEX);
  expect(ofPostgres.filter((index) => !Bun.deepEquals(index, POSTGRES_INDEX))).toEqual(INDEXES);
});

test.each(["libsql", "postgres"] as const)(
  "on %s, mails that wait for a time of the second clock also wait for the only one",
  async (dialect) => {
    await using folder = await openFolder();
    const url = dialect === "libsql" ? folder.databaseUrl : await server.createDatabase();
    const query = <Row>(sql: string): Promise<Row[]> =>
      dialect === "libsql" ? querySqlite<Row>(url, sql) : server.query<Row>(sql, url);
    await migrateBefore(url, "0012_one-clock");
    const [first, second] = ["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"];
    await query(`insert into outbox (kind, next_attempt_at, due_at)
    values ('reset', '${first}', null), ('passkey', null, '${second}'), ('deletion', null, null)`);
    await using database = await openDatabase({ url });
    expect(await database.migrate()).toBe("current");
    const mails = await query<{ readonly kind: string; readonly next_attempt_at: string | Date | null }>(
      "select kind, next_attempt_at from outbox order by id",
    );
    const times = mails.map(({ kind, next_attempt_at: time }) => [
      kind,
      time && new Date(time).toISOString(),
    ]);
    expect(times).toEqual([
      ["reset", first],
      ["passkey", second],
      ["deletion", null],
    ]);
  },
);

test.each(["libsql", "postgres"])("the %s migrations match the tables", (dialect) => {
  const { stdout } = Bun.spawnSync(
    [process.execPath, "x", "drizzle-kit", "generate", `--config=drizzle-${dialect}.config.ts`],
    { cwd: join(import.meta.dir, "..") },
  );
  expect(stdout.toString()).toContain("No schema changes");
});
