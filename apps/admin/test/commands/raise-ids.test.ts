/** `raise-ids` with the real sequences of both databases: which ids follow, which tokens end, and that it does all or nothing. */
import { beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { expectSentence, readAlone, runTool, runToolAlone, startTool } from "../support/tool.ts";

const INSERT_USER = "insert into users (email, username, hashed_password)";
const INSERT_PASSKEY =
  "insert into passkeys (credential_id, user_id, public_key, counter, name) values ('one', 1, 'key', 0, 'Phone')";

const INSERT_IDENTITY =
  "insert into identities (user_id, issuer, subject, provider) values (1, 'https://id.example', '1', 'example')";

const INSERT_FACTOR =
  "insert into factors (user_id, id, secret, key_id, last_step, recovery_codes, was_verified) values (1, 'one', 's', 'k', 1, '[]', true)";

let server: Awaited<ReturnType<typeof sharedPostgresServer>>;
/** A migrated database, of which the tests get copies. */
let template: string;
beforeAll(async () => {
  server = await sharedPostgresServer();
  template = await server.createDatabase();
  expect(await runTool(["migrate"], { env: { DATABASE_URL: template } })).toMatchObject({ code: 0 });
});

describe.each(["libsql", "postgres"])("with %s", (kind) => {
  async function openFixture() {
    const folder = await openFolder();
    const url = kind === "libsql" ? folder.databaseUrl : await server.createDatabase(template);
    const tool = (...args: string[]) => runToolAlone(args, { env: { DATABASE_URL: url } });
    const sql = <Row>(statement: string): Promise<Row[]> =>
      kind === "libsql" ? querySqlite(url, statement) : server.query(statement, url);
    if (kind === "libsql") expect((await tool("migrate")).code).toBe(0);
    const addUser = async (name: string) =>
      Number(
        (await sql<{ id: number }>(`${INSERT_USER} values ('${name}', '${name}', '') returning id`))[0]?.id,
      );
    const addTodo = async () =>
      Number((await sql<{ id: number }>("insert into todos (title) values ('one') returning id"))[0]?.id);
    const raise = async (...options: string[]) => {
      const { code, stdout } = await tool("raise-ids", "--json", ...options);
      return code === 0 ? JSON.parse(stdout) : code;
    };
    return Object.assign(folder, { url, tool, sql, addUser, addTodo, raise });
  }

  test("new ids follow those that can be lost, also in empty tables", async () => {
    await using fixture = await openFixture();
    const { addUser, addTodo, raise, sql } = fixture;
    const allAt = (id: number) => ({
      last_ids: { users: id, todos: id, identities: id, outbox: id, events: id },
    });
    expect(await raise()).toEqual(allAt(1_000_000));
    expect([await addUser("ada"), await addTodo()]).toEqual([1_000_001, 1_000_001]);
    await sql("delete from users");
    const raised = await raise("--by", "5");
    expect(raised).toMatchObject({ last_ids: { users: 1_000_006, todos: 1_000_006, identities: 1_000_005 } });
    expect([await addUser("bob"), await addTodo()]).toEqual([1_000_007, 1_000_007]);
    // As a dump with explicit ids leaves it: PostgreSQL's sequence is behind the rows.
    await sql("insert into users (id, email, username, hashed_password) values (2000000, 'eve', 'eve', '')");
    await raise("--by", "1");
    expect(await addUser("fay")).toBe(2_000_002);
  });

  test("the ids of every table are raised and, to keep the tokens, nothing else is changed", async () => {
    await using fixture = await openFixture();
    const { addUser, addTodo, raise, sql, tool } = fixture;
    const rows = ["users", "passkeys", "identities", "outbox"].map((table) => `select * from ${table}`);
    const read = () => Promise.all(rows.map((query) => sql(query)));
    await addUser("ada");
    await sql("update users set token_version = 7, password_change_token_id = 'kept'");
    await sql(INSERT_PASSKEY);
    // As logical replication leaves the tables of PostgreSQL: rows with ids that no sequence has assigned.
    await sql(`insert into identities (id, user_id, issuer, subject, provider) values (3, 1, 'i', 's', 'p')`);
    await sql("insert into outbox (id, kind) values (2, 'reset')");
    const before = await read();
    const { code, stdout } = await tool("raise-ids", "--keep-tokens");
    expect([code, stdout]).toEqual([
      0,
      "New users get ids above 1000001, new todos above 1000000. Nothing else is changed.\n",
    ]);
    expect(await read()).toEqual(before);
    const idOf = async (insert: string) =>
      Number((await sql<{ id: number }>(`${insert} returning id`))[0]?.id);
    expect(await addUser("bob")).toBe(1_000_002);
    expect(await addTodo()).toBe(1_000_001);
    expect(await idOf(INSERT_IDENTITY)).toBe(1_000_004);
    expect(await idOf("insert into outbox (kind) values ('reset')")).toBe(1_000_003);
    expect(await raise("--keep-tokens", "--without-passkeys")).toBe(64);
  });

  test("every token version grows by a random number, kept tokens end, and passkeys and identities remain unless they are to be deleted", async () => {
    await using fixture = await openFixture();
    const { addUser, raise, sql } = fixture;
    await addUser("ada");
    await addUser("bob");
    await sql("update users set token_version = 7 * id, password_change_token_id = 'kept'");
    await sql(INSERT_PASSKEY);
    await sql(INSERT_IDENTITY);
    type User = Record<"version" | "kept" | "revision", unknown>;
    const read = () =>
      sql<User>(
        "select token_version as version, password_change_token_id as kept, passkey_revision as revision from users order by id",
      );
    let before = await read();
    for (const options of [[], ["--without-passkeys"]]) {
      await raise(...options);
      const after = await read();
      const growth = after.map(({ version }, index) => Number(version) - Number(before[index]?.version));
      for (const each of growth) expect(each).toBeWithin(1, 2 ** 20 + 1);
      expect(after.map(({ kept, revision }) => [kept, revision])).toEqual(
        after.map(() => [null, options.length]),
      );
      for (const table of ["passkeys", "identities"])
        expect(await sql(`select 1 from ${table}`)).toHaveLength(1 - options.length);
      before = after;
    }
  });

  test("second factors remain unless they are to be deleted, which lets earlier releases start again", async () => {
    await using fixture = await openFixture();
    const { addUser, raise, sql } = fixture;
    await addUser("ada");
    await sql("update users set factor_id = 'one'");
    await sql(INSERT_FACTOR);
    const releases = (release: string) =>
      sql(`select 1 from __latchkey_migrations where oldest_release = '${release}'`);
    await sql("update __latchkey_migrations set oldest_release = '2.1.0-0' where created_at = 1795840883471");
    const read = async () => [
      (await sql("select 1 from factors")).length,
      (await sql("select 1 from users where factor_id is not null")).length,
      (await releases("2.1.0-0")).length,
    ];
    await raise();
    expect(await read()).toEqual([1, 1, 1]);
    await raise("--without-factors");
    expect(await read()).toEqual([0, 0, 0]);
    expect(await raise("--keep-tokens", "--without-factors")).toBe(64);
  });

  test("recorded events get a new epoch, higher positions and one event of the restore, but none of its changes", async () => {
    await using fixture = await openFixture();
    const { addUser, raise, tool, url } = fixture;
    const read = () =>
      readAlone(url, async ({ events }) => {
        const state = await events.getState();
        return { state, page: await events.read({ after: null, limit: 9 }) };
      });
    await tool("events", "on", "--days", "7");
    await addUser("ada");
    const before = await read();
    await addUser("bob");
    expect(await raise("--keep-tokens")).toHaveProperty("last_ids.events", 1_000_002);
    expect((await read()).page?.epoch).toBe(before.page?.epoch ?? "");
    await addUser("eve");
    const raised = await raise();
    const lastId = raised.last_ids.events;
    const { state, page } = await read();
    // The event has its time already: tokens from now on are later.
    expect(state).toMatchObject({ days: 7, isNumbered: true, lastPosition: lastId });
    expect(page?.epoch).not.toBe(before.page?.epoch);
    const types = ["user.created", "user.created", "user.created", "database.restored"];
    expect(page?.items.map(({ type }) => type)).toEqual(types);
    expect(page?.items.at(2)?.position).toBeGreaterThan(2_000_002);
    expect(page?.items.at(-1)).toMatchObject({ position: lastId, userId: null, tokenVersion: null });
    await addUser("fay");
    expect((await read()).page?.items.at(-1)).toMatchObject({ position: lastId + 1, type: "user.created" });
    await tool("events", "off");
    await raise();
    expect(await fixture.sql("select 1 from events")).toEqual([]);
  });

  test("nothing changes if the ids would not be safe integers any more, or if the database rejects a change", async () => {
    await using fixture = await openFixture();
    const { addTodo, addUser, raise, sql, tool } = fixture;
    await addUser("ada");
    const last = Number.MAX_SAFE_INTEGER - 3;
    await sql(`insert into todos (id, title) values (${last}, 'last')`);
    const { code, stderr } = await tool("raise-ids");
    expect([code, stderr]).toEqual([65, expect.stringContaining("The ids of the table todos")]);
    expectSentence(stderr);
    for (const by of ["0", "-1", "1.5", "x"]) expect(await raise("--by", by)).toBe(64);
    const obstacle =
      kind === "libsql"
        ? "create trigger obstacle before update on users begin select raise(abort, 'rejected'); end"
        : `create function obstacle() returns trigger language plpgsql as 'begin raise check_violation; end';
           create trigger obstacle before update on users for each row execute function obstacle()`;
    await sql(obstacle);
    expect(await raise("--by", "1")).not.toHaveProperty("last_ids");
    expect(await sql("select token_version as version from users")).toEqual([{ version: 0 }]);
    expect(await addUser("bob")).toBe(2);
    if (kind === "libsql") expect(await addTodo()).toBe(last + 1);
  });

  test("the command is refused while a service uses the database", async () => {
    await using fixture = await openFixture();
    const { url, addUser } = fixture;
    const service = await openDatabase({ url });
    await service.ping();
    // Locks of this process would not refuse it the file.
    const runRaise = kind === "libsql" ? startTool : runTool;
    const { code, stderr } = await runRaise(["raise-ids"], { env: { DATABASE_URL: url } });
    expect([code, stderr]).toEqual([69, expect.stringContaining("stop the service")]);
    await service.close();
    expect(await addUser("ada")).toBe(1);
  });
});
