/** Where the parameters of a URL lead a connection, and which settings a session has. */
import { afterAll, expect, test } from "bun:test";
import { chmod } from "node:fs/promises";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { openDatabase } from "../../src/index.ts";
import { createMigrated, openPostgresTestDatabase } from "../support/postgres-database.ts";

const folder = await openFolder();
await chmod(folder.path, 0o777);
const server = await startPostgresServer({ unix_socket_directories: folder.path });
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** Makes a URL lead to the server's socket instead of its port. */
type Change = (url: URL) => string;

test.each<[string, Change]>([
  ["?host=/folder", ({ href }) => `${href}?host=${folder.path}`.replace("127.0.0.1", "db.invalid")],
  [
    "?host=/folder without a host",
    ({ href, host, port }) => `${href.replace(host, "")}?host=${folder.path}&port=${port}`,
  ],
  [
    "?host=/folder with sslmode, as for libpq",
    ({ href }) => `${href}?host=${folder.path}&sslmode=verify-full`,
  ],
  [
    "a percent-encoded folder as host",
    ({ href }) => href.replace("127.0.0.1", encodeURIComponent(folder.path)),
  ],
])("%s connects through the socket", async (_, toSocketUrl) => {
  const url = await createMigrated(server);
  await using database = await openDatabase({ url: toSocketUrl(new URL(url)) });
  await database.migrate();
  expect(await database.todos.create({ title: "x", completed: false })).toMatchObject({ id: 1 });
  const clients = await server.query(
    "select distinct client_addr as address from pg_stat_activity where application_name = 'latchkey' and datname = current_database()",
    url,
  );
  expect(clients).toEqual([{ address: null }]);
});

test.each(["auto", "false"] as const)(
  "the settings of the role do not change those of a direct session (prepared statements: %s)",
  async (preparedStatements) => {
    await using testDatabase = await openPostgresTestDatabase(server, { preparedStatements });
    const { query, reopen } = testDatabase;
    await query("alter role latchkey set default_transaction_isolation = 'serializable'");
    await query("alter role latchkey set search_path = nowhere");
    await using database = await reopen();
    expect(await database.migrate()).toBe("current");
    const { id } = await database.todos.create({ title: "x", completed: false });
    const change = () => database.todos.update(id, { title: "y" });
    for (let round = 0; round < 5; round++) await Promise.all(Array.from({ length: 20 }, change));
    await query("alter role latchkey reset all");
  },
);

test("application_name names the sessions", async () => {
  const url = await server.createDatabase();
  await using database = await openDatabase({ url: `${url}?application_name=accounts` });
  await database.ping();
  expect(
    await server.query("select pid from pg_stat_activity where application_name = 'accounts'", url),
  ).toHaveLength(1);
});
