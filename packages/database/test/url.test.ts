/** URLs: what opens, what is refused, and that a refusal repeats nothing of the URL. */

import { expect, test } from "bun:test";
import { openDatabase, UnsupportedDatabaseUrl } from "../src/index.ts";
import { parseFileUrl } from "../src/libsql/url.ts";
import { parsePostgresUrl } from "../src/postgres/url.ts";

test("a file: URL names a relative or an absolute path", () => {
  const paths = {
    "file:./data/a.db": `${process.cwd()}/data/a.db`,
    "file:a.db": `${process.cwd()}/a.db`,
    "file:/srv/a.db": "/srv/a.db",
    "file:///srv/a%20b.db": "/srv/a b.db",
    "file://localhost/srv/a.db": "/srv/a.db",
    "FILE:/srv/a.db": "/srv/a.db",
  };
  for (const [url, path] of Object.entries(paths)) expect(parseFileUrl(url)).toBe(path);
});

test("any other URL is refused without being repeated", async () => {
  const urls = [
    "",
    "latchkey.db",
    "file:",
    "file::memory:",
    "file://elsewhere/hunter2.db",
    "file:////hunter2.db",
    "file:hunter2.db?mode=memory",
    "file:hunter2.db#x",
    "file:hunter2%.db",
    "mysql://ada:hunter2@localhost/latchkey",
    "libsql://hunter2.example.org",
    "https://ada:hunter2@example.org",
  ];
  for (const url of urls) {
    const error = await openDatabase({ url }).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
    expect(error.message).not.toContain("hunter2");
  }
});

test("a postgres: URL is read whole, so that no environment variable fills a gap", () => {
  expect(
    parsePostgresUrl("postgresql://a%40b:p%2Fw@db.example.org:6432/latch%20key?sslmode=require"),
  ).toMatchObject({
    hostname: "db.example.org",
    port: 6432,
    username: "a@b",
    password: "p/w",
    database: "latch key",
  });
  expect(parsePostgresUrl("postgres://ada@[::1]/latchkey")).toMatchObject({
    hostname: "::1",
    port: 5432,
    username: "ada",
    password: "",
    database: "latchkey",
  });
  expect(parsePostgresUrl("postgres://localhost/latchkey")).toMatchObject({
    username: "postgres",
    port: 5432,
  });
});

test("a postgres: URL that names no host or database is refused without being repeated", async () => {
  const urls = [
    "postgres://",
    "postgres:hunter2",
    "postgres:///latchkey",
    "postgres://ada:hunter2@localhost",
    "postgres://ada:hunter2@localhost/",
    "postgres://ada:hunter2@localhost/one/two",
    "postgres://ada:hunter2@localhost:70000/latchkey",
    "postgres://ada:hunter2%@localhost/latchkey",
    "postgres://ada:hunter2#x@localhost/latchkey",
  ];
  for (const url of urls) {
    const error = await openDatabase({ url }).catch((reason) => reason);
    expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
    expect(Bun.inspect(error)).not.toContain("hunter2");
  }
});
