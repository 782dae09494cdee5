/** Each error that prevents the start is one line on stderr without a stack trace; the exit code states its kind. */
import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { EXIT } from "@latchkey/cli";
import { openDatabase } from "@latchkey/database";
import { openFolder } from "@latchkey/testing/folder";
import { inFullRun } from "@latchkey/testing/full-run";
import { FACTOR_KEY, SECRET_KEY } from "@latchkey/testing/keys";
import { startPostgresServer } from "@latchkey/testing/postgres-server";
import { startRedisServer } from "@latchkey/testing/redis-server";
import { ROOT } from "@latchkey/testing/repository";
import { startProcess } from "@latchkey/testing/service-process";
import { querySqlite } from "@latchkey/testing/sqlite";
import { redisTest } from "../support/redis.ts";
import { startInFolder } from "../support/service-process.ts";

async function exitOf(env: Readonly<Record<string, string>>) {
  await using service = startProcess(env);
  const { code, stderr } = await service.ended();
  expect(stderr).not.toMatch(/^\s+at |node_modules|\.[jt]s:\d/m);
  expect(service.lines.filter(({ msg }) => msg === "ready")).toEqual([]);
  return { code, lines: stderr.trimEnd().split("\n") };
}

const exitWith = (databaseUrl: string) => exitOf({ AUTH_SECRET_KEY: SECRET_KEY, DATABASE_URL: databaseUrl });

/** Records a migration that only a later release has. */
const NEWER_SCHEMA = "insert into __drizzle_migrations (hash, created_at) values ('x', 9000000000000)";

/** Records the oldest release that is compatible with this migration. */
const COMPATIBLE =
  "insert into __latchkey_migrations (created_at, oldest_release) values (9000000000000, '0.0.1')";

test("the exit code is 78 for configuration errors, which are reported together and without secrets", async () => {
  const { code, lines } = await exitOf({
    NODE_ENV: "production",
    PORT: "http",
    AUTH_SECRET_KEY: "hunter2hunter2",
    AUTH_SECRET_KEY_PREVIOUS: "changeme",
    RATE_LIMIT_LOGIN: "5/day",
    TRUST_PROXY: "-1",
  });
  expect(code).toBe(78);
  expect(lines.map((line) => line.split(":")[0]).sort()).toEqual([
    "AUTH_SECRET_KEY",
    "AUTH_SECRET_KEY_PREVIOUS",
    "DATABASE_URL",
    "PORT",
    "RATE_LIMIT_LOGIN",
    "TRUST_PROXY",
  ]);
  expect(lines.join("\n")).not.toContain("hunter2");
});

test("the exit code is 78 for a parameter of DATABASE_URL that neither the client nor the service reads", async () => {
  const { code, lines } = await exitWith("postgres://u:hunter2@127.0.0.1:1/d?sslmode=disable&pgbouncer=true");
  expect(code).toBe(78);
  expect(lines).toEqual([expect.stringMatching(/^DATABASE_URL: .*parameters: pgbouncer\. Supported are /)]);
  expect(lines.join("\n")).not.toContain("hunter2");
});

test("with an embedded database the exit code is 69 if the folder cannot be created or the file is not a database, and no key is generated next to it", async () => {
  await using folder = await openFolder();
  const file = join(folder.path, "latchkey.db");
  await Bun.write(file, "This is not a database. ".repeat(100));
  for (const url of [`file:${file}/x.db`, folder.databaseUrl]) {
    const unavailable = { code: 69, lines: [expect.stringContaining("unavailable")] };
    expect(await exitOf({ DATABASE_URL: url })).toEqual(unavailable);
  }
  expect(await readdir(folder.path)).toEqual(["latchkey.db"]);
});

test("with an embedded database the exit code is 65 if a newer release has migrated the database to an incompatible schema, and the service starts with a compatible one", async () => {
  await using folder = await openFolder();
  await using database = await openDatabase({ url: folder.databaseUrl });
  await database.migrate();
  await querySqlite(folder.databaseUrl, NEWER_SCHEMA);
  expect(await exitWith(folder.databaseUrl)).toEqual({
    code: 65,
    lines: [expect.stringContaining("newer than this release")],
  });
  await querySqlite(folder.databaseUrl, COMPATIBLE);
  await using service = startProcess({ AUTH_SECRET_KEY: SECRET_KEY, DATABASE_URL: folder.databaseUrl });
  await service.line("The database schema is newer than this release and compatible with it.");
  expect((await fetch(`${await service.ready()}/todos`)).status).toBe(200);
});

inFullRun(test)(
  "on PostgreSQL the exit code is 65 for an unusable schema or used ids, and 69 for a missing privilege, a wrong password or an unreachable server",
  async () => {
    await using server = await startPostgresServer();
    const url = await server.createDatabase();
    await server.query("create table public.users (name text)", url);
    expect((await exitWith(url)).code).toBe(65);

    const moved = await server.createDatabase();
    await using database = await openDatabase({ url: moved });
    await database.migrate();
    await server.query("insert into todos (id, title) values (1, 'Replicated')", moved);
    expect(await exitWith(moved)).toEqual({
      code: 65,
      lines: [expect.stringContaining("raise-ids --keep-tokens")],
    });

    await server.query(
      "create role reader login password 'reader'; grant select on all tables in schema public to reader",
      moved,
    );
    const reader = new URL(moved);
    [reader.username, reader.password] = ["reader", "reader"];
    const factors = { AUTH_SECOND_FACTOR: "true", AUTH_FACTOR_KEY: FACTOR_KEY };
    const env = { ...factors, AUTH_SECRET_KEY: SECRET_KEY, DATABASE_URL: reader.href };
    expect(await exitOf(env)).toEqual({
      code: 69,
      lines: [expect.stringContaining("lacks a privilege")],
    });

    const wrong = new URL(url);
    wrong.password = "Hunter2";
    const rejected = await exitWith(wrong.href);
    expect(rejected).toEqual({ code: 69, lines: [expect.stringContaining("password")] });
    expect(rejected.lines[0]).not.toContain("Hunter2");

    await server.kill();
    expect((await exitWith(url)).code).toBe(69);
  },
);

inFullRun(redisTest)(
  "the exit code is 65 if Redis rejects a command of the limits, with the reason",
  async () => {
    const user = ["--user", "limited", "on", ">pw", "~*", "+@read", "+@write", "+@scripting", "+@connection"];
    await using redis = await startRedisServer(undefined, { args: user });
    await using folder = await openFolder();
    const REDIS_URL = redis.url.replace("//", "//limited:pw@");
    expect(await exitOf({ DATABASE_URL: folder.databaseUrl, REDIS_URL })).toEqual({
      code: 65,
      lines: [expect.stringMatching(/^REDIS_URL: Redis rejects what rate limits need: (ERR|NOPERM) /)],
    });
  },
);

inFullRun(test)(
  "the exit code is 71 if HOST is not an address of this machine, or PORT or METRICS_PORT is in use, without affecting the process that uses it",
  async () => {
    await using first = await startInFolder({ METRICS_PORT: "0" });
    const env = { DATABASE_URL: first.folder.databaseUrl };
    const { url, metrics } = await first.line("ready");
    for (const [variable, address] of [
      ["PORT", url],
      ["METRICS_PORT", metrics],
    ] as const) {
      const { port } = new URL(String(address));
      const message = `${variable} ${port} on 127.0.0.1 is not available: (?!Error).*, such as ${variable}=\\d+$`;
      expect(await exitOf({ ...env, [variable]: port })).toEqual({
        code: 71,
        lines: [expect.stringMatching(new RegExp(message))],
      });
    }
    expect((await exitOf({ ...env, HOST: "192.0.2.1" })).code).toBe(71);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  },
);

test("docs/operations.md explains every exit code", async () => {
  const document = await Bun.file(join(ROOT, "docs/operations.md")).text();
  const { ok: _, interrupted: __, ...codes } = EXIT;
  for (const code of Object.values(codes)) expect(document).toMatch(new RegExp(`^\\| ${code} \\| `, "m"));
});
