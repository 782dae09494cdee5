/** The migrations of both databases match the tables, and create their indexes. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openLibsqlTestDatabase } from "./support/libsql-database.ts";
import { openPostgresTestDatabase } from "./support/postgres-database.ts";

setDefaultTimeout(30_000);

const INDEXES = [
  ...["identities_user_id", "outbox_due_at", "outbox_email_digest", "outbox_next_attempt_at"],
  ...["outbox_user_id", "passkeys_user_id", "users_imported_index", "users_inactive_index"],
  ...["users_roles_index", "users_username_prefix"],
].map((name) => ({ name }));

/** The index of the unique e-mails of libsql also finds the e-mails with a prefix. That of PostgreSQL has another collation. */
const POSTGRES_INDEX = { name: "users_email_prefix" };

test("both databases have the same indexes in addition to those of constraints, and PostgreSQL one for the prefixes of e-mails", async () => {
  await using server = await startPostgresServer();
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

test.each(["libsql", "postgres"])("the %s migrations match the tables", (dialect) => {
  const { stdout } = Bun.spawnSync(
    [process.execPath, "x", "drizzle-kit", "generate", `--config=drizzle-${dialect}.config.ts`],
    { cwd: join(import.meta.dir, "..") },
  );
  expect(stdout.toString()).toContain("No schema changes");
});
