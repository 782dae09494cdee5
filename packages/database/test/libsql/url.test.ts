/** Which file: URLs are accepted, and that every other URL is rejected; an error message never quotes the URL. */
import { expect, test } from "bun:test";
import { openDatabase, UnsupportedDatabaseUrl } from "../../src/index.ts";
import { parseFileUrl } from "../../src/libsql/url.ts";

test.each([
  ["file:./data/a.db", `${process.cwd()}/data/a.db`],
  ["file:a.db", `${process.cwd()}/a.db`],
  ["file:/srv/a.db", "/srv/a.db"],
  ["file:///srv/a%20b.db", "/srv/a b.db"],
  ["file://localhost/srv/a.db", "/srv/a.db"],
  ["FILE:/srv/a.db", "/srv/a.db"],
])("%s is the path %s", (url, path) => {
  expect(parseFileUrl(url)).toBe(path);
});

test.each([
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
])("%p is rejected without quoting it", async (url) => {
  const error = await openDatabase({ url }).catch((reason) => reason);
  expect(error).toBeInstanceOf(UnsupportedDatabaseUrl);
  expect(error.message).not.toContain("hunter2");
});
