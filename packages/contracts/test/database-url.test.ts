/** Which URLs of databases are accepted; an error message never quotes the URL. */
import { expect, test } from "bun:test";
import { parseDatabaseUrl, parsePostgresUrl, UnsupportedDatabaseUrl } from "../src/index.ts";

test("a postgres: URL sets every option, so that the client reads none from environment variables", () => {
  const complete = "postgresql://a%40b:p%2Fw@db.example.org:6432/latch%20key?sslmode=require";
  expect(parsePostgresUrl(complete)).toEqual({
    url: complete,
    hostname: "db.example.org",
    port: 6432,
    username: "a@b",
    password: "p/w",
    database: "latch key",
  });
  const brief = { port: 5432, password: "", database: "latchkey" };
  const local = parsePostgresUrl("postgres://ada@[::1]/latchkey");
  expect(local).toMatchObject({ ...brief, hostname: "::1", username: "ada" });
  expect(parsePostgresUrl("postgres://localhost/latchkey")).toMatchObject({ ...brief, username: "postgres" });
});

test.each([
  "",
  "file:",
  "file::memory:",
  "file://elsewhere/hunter2.db",
  "file:////hunter2.db",
  "file:hunter2.db?mode=memory",
  "file:hunter2.db#x",
  "file:hunter2%.db",
  "FILE:/hunter2.db",
  "mysql://ada:hunter2@localhost/latchkey",
  "postgres://",
  "postgres://ada:hunter2@localhost/",
  "postgres://ada:hunter2@localhost/one/two",
  "postgres://ada:hunter2@localhost:70000/latchkey",
  "postgres://ada:hunter2%@localhost/latchkey",
  "postgres://ada:hunter2#x@localhost/latchkey",
  "postgres://ada:12/hunter2@localhost/latchkey",
])("%p is rejected without quoting it", async (url) => {
  const error = await Promise.try(parseDatabaseUrl, url).catch((reason) => reason);
  expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
  expect(error.message).not.toContain("hunter2");
});
