/** Which postgres: URLs are accepted; an error message never quotes the URL. */
import { expect, test } from "bun:test";
import { openDatabase, UnsupportedDatabaseUrl } from "../../src/index.ts";
import { parsePostgresUrl } from "../../src/postgres/url.ts";

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

test.each([
  "postgres://",
  "postgres:hunter2",
  "postgres:///latchkey",
  "postgres://ada:hunter2@localhost",
  "postgres://ada:hunter2@localhost/",
  "postgres://ada:hunter2@localhost/one/two",
  "postgres://ada:hunter2@localhost:70000/latchkey",
  "postgres://ada:hunter2%@localhost/latchkey",
  "postgres://ada:hunter2#x@localhost/latchkey",
])("%s is rejected without quoting it", async (url) => {
  const error = await openDatabase({ url }).catch((reason) => reason);
  expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
  expect(Bun.inspect(error)).not.toContain("hunter2");
});
