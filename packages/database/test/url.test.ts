/** URLs: what opens, what is refused, and that a refusal repeats nothing of the URL. */

import { expect, test } from "bun:test";
import { openDatabase, UnsupportedDatabaseUrl } from "../src/index.ts";
import { parseFileUrl } from "../src/libsql/url.ts";

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
