/** Which path a file: URL refers to. */
import { expect, test } from "bun:test";
import { databaseFile } from "../src/index.ts";

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
