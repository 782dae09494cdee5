/** Which path a file: URL refers to, and that `openDatabase` rejects what is not the URL of a database. */
import { expect, test } from "bun:test";
import { UnsupportedDatabaseUrl } from "@latchkey/contracts";
import { databaseFile, openDatabase } from "../src/index.ts";

test.each([
  ["file:./data/a.db", `${process.cwd()}/data/a.db`],
  ["file:a.db", `${process.cwd()}/a.db`],
  ["file:/srv/a.db", "/srv/a.db"],
  ["file:///srv/a%20b.db", "/srv/a b.db"],
  ["file://localhost/srv/a.db", "/srv/a.db"],
  ["postgres://localhost/latchkey", null],
])("%s is the path %s", (url, path) => {
  expect(databaseFile({ url })).toBe(path);
});

test("a relative path refers to the base directory", () => {
  expect(databaseFile({ url: "file:./data/a.db", baseDirectory: "/srv" })).toBe("/srv/data/a.db");
});

test("a URL of another kind is rejected", async () => {
  for (const url of ["libsql://example.org", "FILE:/srv/a.db"])
    expect(openDatabase({ url })).rejects.toBeInstanceOf(UnsupportedDatabaseUrl);
});
