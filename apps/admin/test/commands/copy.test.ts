/** `copy` between databases of both kinds: every column of every table, what the service promises afterwards, and refusals. */
import { beforeAll, describe, expect, test } from "bun:test";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { PATIENT_HASHING, post, request, startProcess } from "@latchkey/testing/service-process";
import { sharedPostgresServer } from "@latchkey/testing/shared-postgres-server";
import { querySqlite } from "@latchkey/testing/sqlite";
import { expectSentence, readAlone, runToolAlone, startTool } from "../support/tool.ts";

/** More than a page of a copy. */
const ROWS = 1_100;

/** Names of columns that contain the id of a row of this table or of another one. */
const ID = /^(.*_)?id$/;

let server: Awaited<ReturnType<typeof sharedPostgresServer>>;
/** A migrated database on the server, of which most tests get copies. */
let template: string;
beforeAll(async () => {
  server = await sharedPostgresServer();
  template = await migrated(await server.createDatabase());
});

/** The variables of the tool need not be those of the service. */
const variables = (url: string) => ({ DATABASE_URL: url, AUTH_SECRET_KEY: "of another service" });
const copy = (from: string, to: string) => runToolAlone(["copy", "--to", to], { env: variables(from) });

/** Names of embedded databases in a new folder. */
async function openFiles() {
  const folder = await openFolder();
  let files = 0;
  return Object.assign(folder, { createUrl: async () => `file:${folder.path}/${++files}.db` });
}

async function migrated(url: string): Promise<string> {
  expect(await runToolAlone(["migrate"], { env: variables(url) })).toMatchObject({ code: 0 });
  return url;
}

interface Column {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  readonly nullable: number;
}

const readColumns = (url: string): Promise<Column[]> =>
  querySqlite(
    url,
    `select t.name as "table", c.name, lower(c.type) as type, c."notnull" = 0 and c.pk = 0 as nullable
      from sqlite_schema t join pragma_table_info(t.name) c
      where t.type = 'table' and t.name not like 'sqlite%' and t.name not like '\\_\\_%' escape '\\'`,
  );

/** An expression for the value of a column in row `i`, valid for its type: ids refer to the row of another table with this number. */
function createValue({ name, type }: Column): string {
  if (type === "blob") return "randomblob(16)";
  if (type === "integer") return ID.test(name) || name === "position" ? "i" : "i % 2";
  if (name === "claims") return "json_object('plan', i)";
  return name.endsWith("_at")
    ? "strftime('%Y-%m-%dT%H:%M:%fZ', 1e9 + i * 1.001, 'unixepoch')"
    : `json_array('${name} ' || i)`;
}

/** Inserts rows into every table that the database has, and deletes the last ones. */
async function fill(url: string): Promise<void> {
  for (const [table, columns] of Map.groupBy(await readColumns(url), (column) => column.table)) {
    const values = columns.map((column) =>
      column.nullable ? `case when i % 3 then ${createValue(column)} end` : createValue(column),
    );
    await querySqlite(
      url,
      `insert into ${table} (${columns.map(({ name }) => name)})
        with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < ${ROWS}) select ${values} from numbers`,
    );
    const ids = columns.filter(({ type, name }) => type === "integer" && ID.test(name));
    for (const { name } of ids) await querySqlite(url, `delete from ${table} where ${name} > ${ROWS - 5}`);
  }
}

/** The rows of all tables, and the last id of each. */
async function dump(url: string) {
  const tables = new Set((await readColumns(url)).map(({ table }) => table));
  const rows: Record<string, string[]> = {};
  for (const table of [...tables, "sqlite_sequence"])
    rows[table] = (await querySqlite(url, `select * from ${table}`)).map((row) => JSON.stringify(row)).sort();
  return rows;
}

test("copies between all kinds of databases keep every column of every table and the last ids of deleted rows", async () => {
  await using files = await openFiles();
  const source = await migrated(await files.createUrl());
  await fill(source);
  const before = await dump(source);
  expect(Object.values(before).every((rows) => rows.length > 0)).toBe(true);
  const urls = [
    source,
    await files.createUrl(),
    await server.createDatabase(),
    await server.createDatabase(),
    await files.createUrl(),
  ];
  const reports = new Set<string>();
  for (const [index, to] of urls.slice(1).entries()) {
    const from = urls[index] ?? "";
    const { code, stdout, stderr } = await copy(from, to);
    expect([code, stderr]).toEqual([0, expect.stringContaining("the same AUTH_SECRET_KEY")]);
    reports.add(stdout);
  }
  expect(await dump(urls.at(-1) ?? "")).toEqual(before);
  expect(await dump(source)).toEqual(before);
  expect(reports.size).toBe(1);
  // A release that does not ask for the second factors must not start on any target.
  const raised = "select * from __latchkey_migrations where oldest_release = '2.1.0-0'";
  for (const url of urls.slice(1)) expect(await execute(url, raised)).toHaveLength(1);
  const lines = [...reports].join().trim().split("\n");
  const tables = [
    "deleted_imports",
    "digest_keys",
    "events",
    "outbox",
    "todos",
    "users",
    "factors",
    "identities",
    "passkeys",
    "user_networks",
    "events_state",
  ];
  expect(lines.map((line) => line.split(" ")[0])).toEqual(tables);
  expect(lines[5]).toMatch(/^users +1095 rows, digest [0-9a-f]{16}$/);
});

/** Runs the service, without limits, while `use` sends requests to it. */
async function withService<T>(env: Readonly<Record<string, string>>, use: (url: string) => Promise<T>) {
  await using service = startProcess({ ...env, ...PATIENT_HASHING, RATE_LIMIT_ENABLED: "false" });
  const result = await use(await service.ready());
  service.signal("SIGTERM");
  expect((await service.ended()).code).toBe(0);
  return result;
}

/** Registers a user, and returns the id and a token. */
async function register(url: string, username: string): Promise<{ id: number; token: string }> {
  const user = { username, email: `${username}@example.com`, password: "correct horse battery staple" };
  const { id } = (await (await post(`${url}/auth/register`, user)).json()) as { id: number };
  const login = await post(`${url}/auth/login`, user);
  const { access_token: token } = (await login.json()) as { access_token: string };
  return { id, token };
}

inFullRun(test)(
  "after a copy in either direction, tokens work with the key that it names, and ids of deleted users are not used again",
  async () => {
    await using files = await openFiles();
    let from = await files.createUrl();
    const remove = (url: string, token: string) => request(`${url}/auth/me`, { method: "DELETE", token });
    const users = await withService({ DATABASE_URL: from }, async (url) => {
      const [ada, cy] = [await register(url, "ada"), await register(url, "cy")];
      expect((await remove(url, cy.token)).status).toBe(204);
      return [ada, cy];
    });
    let key = {};
    for (const to of [await server.createDatabase(), await files.createUrl()]) {
      const { stderr } = await copy(from, to);
      const [, generated] = /AUTH_SECRET_KEY_FILE=(\S+),/.exec(stderr) ?? [];
      if (generated) key = { AUTH_SECRET_KEY_FILE: generated };
      await withService({ DATABASE_URL: to, ...key }, async (url) => {
        for (const [index, { token }] of users.entries())
          expect((await request(`${url}/auth/me`, { token })).status).toBe(index === 0 ? 200 : 404);
        users.push(await register(url, `new${users.length}`));
        expect(users.at(-1)?.id).toBe(users.length);
        await remove(url, users.at(-1)?.token ?? "");
      });
      from = to;
    }
  },
);

/** A session that uses no table, like an idle connection of a service. */
async function connectTo(url: string): Promise<AsyncDisposable> {
  if (url.startsWith("file:")) return openDatabase({ url });
  const client = new Bun.SQL(url, { max: 1 });
  await client.connect();
  return { [Symbol.asyncDispose]: () => client.close() };
}

/** Runs SQL as another session, which has ended when the result resolves. */
const execute = (url: string, sql: string): Promise<unknown[]> =>
  url.startsWith("file:") ? querySqlite(url, sql) : server.query(sql, url);

const INSERT =
  "insert into users (email, username, hashed_password) values ('ada@example.com', 'ada', 'salt$digest')";

const createTrigger = (statement: string) => `
  create or replace function obstacle() returns trigger language plpgsql as 'begin ${statement}; return new; end';
  create trigger obstacle before insert on users for each row execute function obstacle()`;

/** What a copy reports about a target that does not store the users, which are copied after todos, and a trigger that causes it. */
const OBSTACLES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "The target rejected a row of the table users (": {
    libsql: "create trigger obstacle before insert on users begin select raise(abort, 'rejected'); end",
    postgres: createTrigger("raise check_violation"),
  },
  "The target does not return the same rows of the table users": {
    libsql: "create trigger obstacle after insert on users begin update users set username = 'eve'; end",
    postgres: createTrigger("new.username = ''eve''"),
  },
};

describe.each(["libsql", "postgres"])("with %s", (kind) => {
  async function openPair() {
    const files = await openFiles();
    const createMigrated = async () =>
      kind === "libsql" ? migrated(await files.createUrl()) : server.createDatabase(template);
    const [source, target] = [await createMigrated(), await createMigrated()];
    await execute(source, INSERT);
    const refuse = async (code: number, problem: string, run = runToolAlone) => {
      const { stderr, ...refused } = await run(["copy", "--to", target], { env: variables(source) });
      expect([refused, stderr]).toEqual([{ code, stdout: "" }, expect.stringContaining(problem)]);
      expectSentence(stderr);
      expect(stderr).not.toContain("latchkey:latchkey");
    };
    return Object.assign(files, { source, target, refuse });
  }

  test("a copy records nothing, and the target records what the source did, in the same epoch", async () => {
    await using pair = await openPair();
    expect(await runToolAlone(["events", "on"], { env: variables(pair.source) })).toMatchObject({ code: 0 });
    await execute(pair.source, "update users set username = 'countess'");
    expect(await copy(pair.source, pair.target)).toMatchObject({ code: 0 });
    const read = (url: string) => readAlone(url, ({ events }) => events.read({ after: null, limit: 9 }));
    const { items, epoch } = (await read(pair.target)) ?? {};
    expect(items).toMatchObject([{ position: 1, type: "user.updated", changed: ["username"] }]);
    await execute(pair.target, "delete from users");
    const again = await read(pair.target);
    expect(again).toMatchObject({ epoch, items: [{ position: 1 }, { position: 2, type: "user.deleted" }] });
    expect((await read(pair.source))?.epoch).toBe(epoch ?? "");
  });

  test.each(["source", "target"] as const)(
    "a copy is refused while another session uses the %s",
    async (role) => {
      await using pair = await openPair();
      await using _session = await connectTo(pair[role]);
      if (kind === "postgres") await pair.refuse(69, `) uses the ${role}; stop the service`);
      // Locks of this process would not refuse it the file.
      else await pair.refuse(69, "stop the service", startTool);
    },
  );

  test("a copy is refused if the target rejects or changes a row, and then leaves it empty, or if it has rows or had some", async () => {
    await using pair = await openPair();
    await execute(pair.source, "insert into todos (title) values ('copied before the users')");
    for (const [problem, triggers] of Object.entries(OBSTACLES)) {
      await execute(pair.target, triggers[kind] ?? "");
      await pair.refuse(65, problem);
      await execute(pair.target, `drop trigger obstacle ${kind === "postgres" ? "on users" : ""}`);
    }
    expect(await copy(pair.source, pair.target)).toMatchObject({ code: 0 });
    await pair.refuse(65, "The target has rows");
    for (const table of ["users", "todos"]) await execute(pair.target, `delete from ${table}`);
    await pair.refuse(65, "The target has rows, or had some");
  });

  test("a copy is refused if the schema of a database is not that of this release", async () => {
    await using pair = await openPair();
    await execute(pair.source, "insert into __drizzle_migrations (hash, created_at) values ('', 9e12)");
    await pair.refuse(65, "The source does not have the schema of this release");
    await execute(pair.source, "drop table __drizzle_migrations");
    await pair.refuse(65, "The source does not have the schema of this release");
  });
});
