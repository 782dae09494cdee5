/**
 * A real PgBouncer between the service and PostgreSQL. In transaction mode, before 1.21, two clients execute each other's
 * prepared statements, so the service must not start there.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type PgBouncer, startPgBouncer } from "@latchkey/testing/pgbouncer";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import { DatabaseUnavailable, UnsupportedDatabaseServer } from "../../src/index.ts";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { repositoryConformance } from "../support/repository-conformance.ts";

const isInstalled = Bun.which("pgbouncer") !== null;
if (!isInstalled) process.stderr.write("pooler.test.ts: skipped, because pgbouncer is not installed\n");

/** Prepared statements in transaction mode need 1.21. */
const isSupported =
  isInstalled &&
  Bun.semver.satisfies(
    /\d+\.\d+\.\d+/.exec(`${Bun.spawnSync(["pgbouncer", "--version"]).stdout}`)?.[0] ?? "",
    ">=1.21.0",
  );

describe.skipIf(!isInstalled && !process.env.CI)("through PgBouncer", () => {
  let server: PostgresServer;
  let session: PgBouncer;
  let transaction: PgBouncer;
  const ignored = { ignore_startup_parameters: "statement_timeout" };
  beforeAll(async () => {
    server = await startPostgresServer();
    session = await startPgBouncer(server.port, { ...ignored, pool_mode: "session" });
    transaction = await startPgBouncer(server.port, {
      ...ignored,
      pool_mode: "transaction",
      ...(isSupported ? { max_prepared_statements: "200" } : {}),
    });
  });
  afterAll(async () => {
    for (const each of [session, transaction, server]) await each[Symbol.asyncDispose]();
  });

  const openThrough = async (pooler: PgBouncer) => {
    const url = await server.createDatabase();
    return openPostgresDatabase({ url: pooler.urlOf(url) });
  };

  if (isSupported)
    repositoryConformance("PostgreSQL through PgBouncer in transaction mode", async () => {
      const url = await server.createDatabase();
      const reopen = async () => openPostgresDatabase({ url: transaction.urlOf(url), poolSize: 2 });
      const database = await reopen();
      await database.migrate();
      const query = <Row>(sql: string) => server.query<Row>(sql, url);
      return { database, url, reopen, query, [Symbol.asyncDispose]: () => database.close() };
    });
  else
    test("in transaction mode, a version without prepared statements is rejected in one sentence", async () => {
      await using database = await openThrough(transaction);
      const error = await database.migrate().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnsupportedDatabaseServer);
      expect(String(error)).toContain("Use PgBouncer 1.21 or later with max_prepared_statements");
    });

  test("in session mode, every version runs migrations, writes and prepared reads", async () => {
    await using database = await openThrough(session);
    await database.migrate();
    const user = await database.users.create({
      email: "ada@example.com",
      username: "ada",
      hashedPassword: "h",
    });
    expect(await database.users.findById(user.id)).toEqual(user);
  });

  test("a pooler that rejects statement_timeout is reported with the setting that accepts it", async () => {
    await using pooler = await startPgBouncer(server.port, { pool_mode: "session" });
    await using database = await openThrough(pooler);
    const error = await database.migrate().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(DatabaseUnavailable);
    expect(String(error)).toContain("ignore_startup_parameters");
  });

  test("a missing statement timeout is logged, and one of the role is kept", async () => {
    const url = await server.createDatabase();
    const logThrough = async (pooler: PgBouncer) => {
      await using database = openPostgresDatabase({ url: pooler.urlOf(url) });
      const log: string[] = [];
      await database.migrate((message) => log.push(message));
      return log;
    };
    expect(await logThrough(session)).toEqual([expect.stringContaining("statement_timeout")]);
    await server.query("alter role latchkey set statement_timeout = '3500ms'");
    // The other pooler's connections are older than the setting.
    await using pooler = await startPgBouncer(server.port, { ...ignored, pool_mode: "session" });
    expect(await logThrough(pooler)).toEqual([]);
  });
});
