/**
 * Real PgBouncers between the service and PostgreSQL. In transaction mode, before 1.21, a client can execute another client's
 * prepared statement, so statements must be prepared only on connections that are proved to be direct.
 */
import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { inFullRun } from "@latchkey/testing/full-run";
import { type PostgresServer, startPostgresServer } from "@latchkey/testing/postgres-server";
import {
  type Database,
  type DatabaseOptions,
  DatabaseUnavailable,
  UnsupportedDatabaseServer,
} from "../../src/index.ts";
import { openPostgresDatabase } from "../../src/postgres/database.ts";
import { type PgBouncer, startPgBouncer } from "../support/pgbouncer.ts";
import { createMigrated } from "../support/postgres-database.ts";
import { repositoryConformance } from "../support/repository-conformance.ts";
import { openTcpProxy } from "../support/tcp-proxy.ts";
import { openTestDatabase } from "../support/test-database.ts";

const isInstalled = Bun.which("pgbouncer") !== null;
if (!isInstalled) process.stderr.write("pool.test.ts: skipped, because pgbouncer is not installed\n");

/** Prepared statements in transaction mode need 1.21. */
const isSupported =
  isInstalled &&
  Bun.semver.satisfies(
    /\d+\.\d+\.\d+/.exec(`${Bun.spawnSync(["pgbouncer", "--version"]).stdout}`)?.[0] ?? "",
    ">=1.21.0",
  );

const CLIENTS = 72;
const ROWS = 500;

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

  /** A migrated database with the function `record`, which creates todos and returns what their sessions reported. */
  const createRecorder = async () => {
    const url = await createMigrated(server);
    for (const statement of [
      "create table sessions (source text, prepared integer)",
      "grant insert on sessions to latchkey",
      `create function report() returns trigger language plpgsql as $$ begin
        insert into sessions select source, (select count(*) from pg_prepared_statements)
        from pg_settings where name = 'statement_timeout';
        return null;
      end $$`,
      "create trigger report after insert on todos execute function report()",
    ])
      await server.query(statement, url);
    const record = async ({ todos }: Database, count: number) => {
      const calls = Array.from({ length: count }, () => todos.create({ title: "x", completed: false }));
      await Promise.allSettled(calls);
      const removed = "delete from sessions returning source, prepared > 0 as prepared";
      return server.query<{ source: string; prepared: boolean }>(removed, url);
    };
    return { url, record };
  };
  /** Returns the URL that leads to the same database through another port. */
  const through = ({ port }: { port: number }, url: string) => url.replace(`:${server.port}/`, `:${port}/`);

  if (isSupported)
    repositoryConformance("PostgreSQL through PgBouncer in transaction mode", async () => {
      const url = await server.createDatabase();
      const options = { url: through(transaction, url), poolSize: 2, preparedStatements: "true" } as const;
      const reopen = async () => openPostgresDatabase(options);
      return openTestDatabase({ url, reopen, query: (sql) => server.query(sql, url) });
    });
  else
    test("in transaction mode, a version without prepared statements is rejected if they are required", async () => {
      const url = through(transaction, await server.createDatabase());
      await using database = openPostgresDatabase({ url, preparedStatements: "true" });
      const error = await database.migrate().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(UnsupportedDatabaseServer);
      expect(String(error)).toContain("Use PgBouncer 1.21 or later with max_prepared_statements");
    });

  inFullRun(test)(
    "behind two poolers, every result and every deletion of 72 concurrent clients belongs to its query",
    async () => {
      const url = await server.createDatabase();
      await using owner = openPostgresDatabase({ url });
      await owner.migrate();
      const rows = `from generate_series(1, ${2 * ROWS}) n`;
      await server.query(`insert into todos (title) select 'todo ' || n ${rows}`, url);
      await server.query(
        `insert into users (email, username, hashed_password) select n || '@example.org', 'user_' || n, 's$d' ${rows}`,
        url,
      );
      const settings = { ...ignored, pool_mode: "transaction", default_pool_size: "5" };
      await using first = await startPgBouncer(server.port, settings);
      await using second = await startPgBouncer(server.port, settings);
      using balancer = await openTcpProxy([first.port, second.port]);
      const options = { url: through(balancer, url), poolSize: CLIENTS, deadlineMs: 20_000 };
      await using database = openPostgresDatabase(options);
      const { users, todos } = database;

      const useRows = async (id: number) => {
        expect(await users.findById(id)).toMatchObject({ id, username: `user_${id}` });
        expect(await todos.findById(id)).toMatchObject({ id, title: `todo ${id}` });
        expect(await users.findByEmail(`${id}@example.org`)).toMatchObject({ id });
        expect(await todos.list({ after: id - 1, limit: 1 })).toMatchObject([{ title: `todo ${id}` }]);
        expect(await todos.update(id, { completed: true })).toMatchObject({ id, completed: true });
        expect(await todos.delete(ROWS + id)).toBe(true);
        expect(await users.delete(id)).toBe(true);
      };
      let next = 1;
      const client = async () => {
        for (let id = next++; id <= ROWS; id = next++) await useRows(id);
      };
      const outcomes = await Promise.allSettled(Array.from({ length: CLIENTS }, client));
      expect(outcomes.filter(({ status }) => status === "rejected")).toEqual([]);
      const others = `
      select (select count(*)::int from todos where id <= ${ROWS}) as todos,
        (select count(*)::int from users where id > ${ROWS}) as users`;
      expect(await server.query(others, url)).toEqual([{ todos: ROWS, users: ROWS }]);
    },
  );

  test("statements are prepared on direct connections, and through a pooler only if that is required", async () => {
    const { url, record } = await createRecorder();
    const isPrepared = async (options: DatabaseOptions) => {
      await using database = openPostgresDatabase(options);
      return (await record(database, 1)).map(({ prepared }) => prepared);
    };
    expect(await isPrepared({ url })).toEqual([true]);
    expect(await isPrepared({ url, preparedStatements: "false" })).toEqual([false]);
    for (const pooler of [session, transaction])
      expect(await isPrepared({ url: through(pooler, url) })).toEqual([false]);
    expect(await isPrepared({ url: through(session, url), preparedStatements: "true" })).toEqual([true]);
  });

  test("a connection that replaces a closed one is proved again, and one without a proof ends preparation on all", async () => {
    const { url, record } = await createRecorder();
    const targets = [server.port];
    using balancer = await openTcpProxy(targets);
    await using database = openPostgresDatabase({ url: through(balancer, url), poolSize: 4 });
    expect(await record(database, 8)).toEqual(Array(8).fill({ source: "client", prepared: true }));

    targets[0] = transaction.port;
    await server.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'latchkey' and datname = current_database() limit 1`,
      url,
    );
    let sessions = await record(database, 8);
    while (sessions.every(({ source }) => source === "client")) sessions = await record(database, 8);
    for (const { source, prepared } of sessions) expect(prepared).toBe(source === "client");
    expect(await record(database, 8)).toEqual(Array(8).fill({ source: "default", prepared: false }));
  });

  test("errors of a pooler are reported as such, with the setting that is most often missing", async () => {
    await using pooler = await startPgBouncer(server.port, { pool_mode: "session" });
    await using full = await startPgBouncer(server.port, { ...ignored, max_client_conn: "0" });
    for (const each of [pooler, full]) {
      await using database = openPostgresDatabase({ url: through(each, await server.createDatabase()) });
      const error = await database.migrate().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(DatabaseUnavailable);
      expect(String(error)).toContain("a connection pooler reported an error");
      expect(String(error)).toContain("ignore_startup_parameters");
    }
  });

  test("a missing statement timeout is logged, and one of the role is kept but is no proof of a direct connection", async () => {
    const url = await server.createDatabase();
    const logThrough = async (pooler: PgBouncer) => {
      await using database = openPostgresDatabase({ url: through(pooler, url) });
      const log: string[] = [];
      await database.migrate((message) => log.push(message));
      return log;
    };
    const pooled = expect.stringContaining("statements are not prepared");
    expect(await logThrough(session)).toEqual([pooled, expect.stringContaining("statement_timeout")]);
    await server.query("alter role latchkey set statement_timeout = '45s'");
    // The other pooler's connections are older than the setting.
    await using pooler = await startPgBouncer(server.port, { ...ignored, pool_mode: "session" });
    // The client then chooses the same statement timeout.
    const random = spyOn(Math, "random").mockReturnValue(0);
    expect(await logThrough(pooler)).toEqual([pooled]);
    random.mockRestore();
  });

  test("a stricter default isolation level is logged, because a pooler's session keeps the settings of the role", async () => {
    const url = await server.createDatabase();
    await server.query("alter role latchkey set default_transaction_isolation = 'serializable'");
    await using pooler = await startPgBouncer(server.port, { ...ignored, pool_mode: "transaction" });
    await using database = openPostgresDatabase({ url: through(pooler, url), preparedStatements: "false" });
    const log: string[] = [];
    await database.migrate((message) => log.push(message));
    expect(log).toContainEqual(expect.stringContaining("default isolation level is serializable"));
    await server.query("alter role latchkey reset all");
  });
});
