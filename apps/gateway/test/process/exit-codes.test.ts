/** The start as machines read it: one line with what was found, and exit codes that tell the faults apart. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  DatabaseUnavailable,
  SchemaTooNew,
  UnsupportedDatabaseServer,
  UnsupportedDatabaseUrl,
} from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { SECRET_KEY } from "@latchkey/testing/secret-key";
import { startProcess } from "@latchkey/testing/service-process";
import { databaseStartupError, EXIT } from "../../src/lifecycle/startup-errors.ts";

async function refusal(env: Readonly<Record<string, string>>) {
  await using service = startProcess({ AUTH_SECRET_KEY: SECRET_KEY, ...env });
  const { code, stderr } = await service.ended();
  expect(stderr).not.toMatch(/^\s+at |node_modules|\.ts:\d/m);
  return { code, lines: stderr.trimEnd().split("\n") };
}

/** Starts a service once, so that its database is there and migrated, then changes it. */
async function spoiled(url: string, spoil: () => Promise<unknown>) {
  {
    await using service = startProcess({ AUTH_SECRET_KEY: SECRET_KEY, DATABASE_URL: url });
    await service.ready();
    service.signal("SIGTERM");
    expect((await service.ended()).code).toBe(0);
  }
  await spoil();
  return refusal({ DATABASE_URL: url });
}

test("the ready line names the URL, the documents, the metrics, the database, the kernel and what it can do", async () => {
  await using folder = await openFolder();
  await using service = startProcess({
    DATABASE_URL: folder.databaseUrl,
    METRICS_PORT: "0",
    HASH_KERNEL: "portable",
  });
  const ready = await service.line("ready");
  expect(ready).toEqual({
    level: "info",
    time: expect.any(String),
    msg: "ready",
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    docs: `${ready.url}/docs`,
    metrics: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/metrics$/),
    database: "libsql",
    kernel: "portable",
    kernel_fallback: null,
    hash_workers: 1,
    hash_capacity_per_second: expect.any(Number),
    hash_queue_limit: expect.any(Number),
  });
  expect(ready.hash_capacity_per_second).toBeGreaterThan(0);
  expect(ready.hash_queue_limit).toBeGreaterThanOrEqual(64);
});

describe("exit codes", () => {
  const MANY_YEARS_LATER = 9_000_000_000_000;

  test("65: an embedded database that a newer release has migrated", async () => {
    await using folder = await openFolder();
    const { code, lines } = await spoiled(folder.databaseUrl, async () => {
      const { Database } = await import("bun:sqlite");
      using database = new Database(join(folder.path, "latchkey.db"));
      database.run("insert into __drizzle_migrations (hash, created_at) values ('x', ?)", [MANY_YEARS_LATER]);
    });
    expect([code, lines]).toEqual([65, [expect.stringContaining("newer than this release")]]);
  });

  test("65: tables of somebody else where the service's would be", async () => {
    await using folder = await openFolder();
    const { Database } = await import("bun:sqlite");
    {
      using database = new Database(join(folder.path, "latchkey.db"));
      database.run("create table users (name text)");
    }
    const { code, lines } = await refusal({ DATABASE_URL: folder.databaseUrl });
    expect(code).toBe(65);
    expect(lines).toHaveLength(1);
  });

  test("65 and 69 on PostgreSQL: newer schema, foreign tables; wrong password, nobody there", async () => {
    await using server = await startPostgresServer();
    const newer = await server.createDatabase();
    const migrated = await spoiled(newer, () =>
      server.query(
        `insert into __drizzle_migrations (hash, created_at) values ('x', ${MANY_YEARS_LATER})`,
        newer,
      ),
    );
    expect(migrated).toEqual({ code: 65, lines: [expect.stringContaining("newer than this release")] });

    const foreign = await server.createDatabase();
    await server.query("create table public.users (name text)", foreign);
    expect((await refusal({ DATABASE_URL: foreign })).code).toBe(65);

    const wrong = new URL(newer);
    wrong.password = "Hunter2";
    const rejected = await refusal({ DATABASE_URL: wrong.href });
    expect(rejected).toEqual({ code: 69, lines: [expect.stringContaining("password")] });
    expect(rejected.lines[0]).not.toContain("Hunter2");

    await server.kill();
    expect((await refusal({ DATABASE_URL: newer })).code).toBe(69);
  });

  test("71: a metrics port that is taken, by name", async () => {
    await using folder = await openFolder();
    await using first = startProcess({ DATABASE_URL: folder.databaseUrl, METRICS_PORT: "0" });
    const { port } = new URL(String((await first.line("ready")).metrics));
    const { code, lines } = await refusal({ DATABASE_URL: folder.databaseUrl, METRICS_PORT: port });
    expect([code, lines]).toEqual([
      71,
      [expect.stringMatching(new RegExp(`^METRICS_PORT ${port} on 127\\.0\\.0\\.1`))],
    ]);
  });

  test.each([
    ["UnsupportedDatabaseUrl", new UnsupportedDatabaseUrl("x"), EXIT.configuration],
    ["SchemaTooNew", new SchemaTooNew(), EXIT.migration],
    ["UnsupportedDatabaseServer", new UnsupportedDatabaseServer("x"), EXIT.migration],
    ["a bug in a migration", new TypeError("x"), EXIT.migration],
  ])("%s has the code of its kind", (_name, error, exitCode) => {
    expect(databaseStartupError(error)).toMatchObject({ exitCode });
  });

  test.each([
    ["DEADLINE", EXIT.database],
    ["28P01", EXIT.database],
    ["53300", EXIT.database],
    ["ERR_POSTGRES_CONNECTION_REFUSED", EXIT.database],
    ["SQLITE_CANTOPEN", EXIT.database],
    ["SQLITE_NOTADB", EXIT.database],
    ["SQLITE_BUSY", EXIT.database],
    ["42P07", EXIT.migration],
    ["42501", EXIT.migration],
    ["SQLITE_ERROR", EXIT.migration],
  ])("a database that says %s ends the start with %d", (reason, exitCode) => {
    expect(databaseStartupError(new DatabaseUnavailable(reason))).toMatchObject({ exitCode });
  });

  test("each is explained in the README", async () => {
    const readme = await Bun.file(join(import.meta.dir, "../../../../README.md")).text();
    for (const code of [...Object.values(EXIT), 143])
      expect(readme).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
  });
});
