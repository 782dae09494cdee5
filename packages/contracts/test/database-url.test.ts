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
  ["postgres://u:p@localhost/db?host=/run/postgresql", "/run/postgresql", 5432],
  ["postgres://u:p@/db?host=/cloudsql/a:b:c&port=5433", "/cloudsql/a:b:c", 5433],
  ["postgres:///db?host=/run/postgresql", "/run/postgresql", 5432],
  ["postgres://u:p@:5433/db?host=/run/postgresql", "/run/postgresql", 5433],
  ["postgresql://u:p@%2Frun%2Fpostgresql:5433/db", "/run/postgresql", 5433],
  ["postgres://u:p@h/db?path=/run/postgresql", "/run/postgresql", 5432],
])("%s leads to the socket in %s with port %d", (url, hostname, port) => {
  expect(parsePostgresUrl(url)).toMatchObject({ hostname, port, database: "db" });
});

test("all parameters of the client and the service are accepted, and any other is rejected by its name", () => {
  const tls = "sslmode=require&sslrootcert=/a&sslcert=/b&sslkey=/c&sslpassword=d&channel_binding=require";
  const url = `postgres://localhost/latchkey?${tls}&options=-c%20a%3Db&application_name=accounts&password=p`;
  expect(parsePostgresUrl(url)).toMatchObject({ url, applicationName: "accounts", password: "p" });
  const messageOf = (query: string) => {
    try {
      return parsePostgresUrl(`postgres://ada:hunter2@localhost/latchkey?${query}`);
    } catch (error) {
      return String(error);
    }
  };
  for (const query of [
    "pgbouncer=true",
    "connection_limit=5",
    "schema=app",
    "target_session_attrs=read-write",
  ])
    expect(messageOf(query)).toContain(`parameters: ${query.split("=")[0]}. Supported are sslmode, `);
  expect(messageOf("sslmode=require&a=1&b=2&options=c&options=d")).toContain("parameters: a, b, options.");
  for (const query of ["host=db.example.com", "port=0", "port=x", "port=65536"])
    expect(messageOf(query)).toContain(`its ${query.startsWith("host") ? "parameter host" : "port"} `);
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
  "postgres://ada:12/x?hunter2&y@localhost/latchkey",
])("%p is rejected without quoting it", async (url) => {
  const error = await Promise.try(parseDatabaseUrl, url).catch((reason) => reason);
  expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
  expect(error.message).not.toContain("hunter2");
});
