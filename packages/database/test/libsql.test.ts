/** libsql's own quirks: the file and its modes, its pragmas, its migrations, its text timestamps. */

import { describe, expect, test } from "bun:test";
import { mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { openFolder } from "@latchkey/testing/folder";
import { DatabaseUnavailable, openDatabase, SchemaTooNew } from "../src/index.ts";
import { openClient } from "../src/libsql/client.ts";
import { createTodoRepository } from "../src/libsql/todos.ts";
import { openLibsqlScratch, spawnReplica } from "./libsql-scratch.ts";
import { repositoryConformance } from "./repository-conformance.ts";

repositoryConformance("libsql", openLibsqlScratch);

describe("the file", () => {
  test("is made with its folders, for its owner alone", async () => {
    await using folder = await openFolder();
    const path = join(folder.path, "a folder/50% #1?/deep", "latchkey.db");
    await using database = await openDatabase({
      url: `file://${path.split("/").map(encodeURIComponent).join("/")}`,
    });
    await database.migrate();
    for (const suffix of ["", "-wal", "-shm"]) expect((await stat(path + suffix)).mode & 0o777).toBe(0o600);
    expect((await stat(join(path, ".."))).mode & 0o777).toBe(0o700);
  });

  test("is in WAL mode, and its connections wait for no lock and for every sync", async () => {
    await using scratch = await openLibsqlScratch();
    const { reader, writer, close } = await openClient(scratch.path, 0);
    for (const { orm } of [reader, writer]) {
      expect(await orm.get<object>("pragma journal_mode")).toEqual({ journal_mode: "wal" });
      expect(await orm.get<object>("pragma busy_timeout")).toEqual({ timeout: 0 });
      expect(await orm.get<object>("pragma synchronous")).toEqual({ synchronous: 2 });
    }
    close();
  });

  test("that has no room for another page is unavailable for writing and readable", async () => {
    await using scratch = await openLibsqlScratch();
    const client = await openClient(scratch.path, 0);
    const todos = createTodoRepository(client);
    const { id } = await todos.create({ title: "fits", completed: false });
    await client.writer.orm.run("pragma max_page_count = 1");
    const failure = await todos
      .create({ title: "x".repeat(100_000), completed: false })
      .catch((error) => error);
    expect(failure).toBeInstanceOf(DatabaseUnavailable);
    expect(failure.reason).toBe("SQLITE_FULL");
    expect((await todos.findById(id))?.title).toBe("fits");
    client.close();
  });

  test("that cannot be opened or is no database is unavailable", async () => {
    await using folder = await openFolder();
    await mkdir(join(folder.path, "folder.db"));
    await Bun.write(
      join(folder.path, "text.db"),
      "These are not the pages you are looking for. ".repeat(100),
    );
    for (const name of ["folder.db", "text.db", "text.db/below.db"]) {
      await expect(openDatabase({ url: `file:${join(folder.path, name)}` })).rejects.toBeInstanceOf(
        DatabaseUnavailable,
      );
    }
  });

  test("damaged while it is open is an error of the query, not of the process", async () => {
    await using scratch = await openLibsqlScratch();
    await scratch.database.todos.create({ title: "x", completed: false });
    await scratch.query("pragma wal_checkpoint(truncate)");
    await Bun.write(scratch.path, new Uint8Array(20_000).fill(0x55));
    await using second = await scratch.reopen().catch(() => scratch.database);
    await expect(second.todos.list({ after: 0, limit: 1 })).rejects.toBeInstanceOf(DatabaseUnavailable);
  });
});

describe("timestamps", () => {
  test("are stored as RFC 3339 in UTC with milliseconds", async () => {
    await using scratch = await openLibsqlScratch();
    const { id, createdAt } = await scratch.database.todos.create({ title: "x", completed: false });
    await scratch.database.todos.update(id, { title: "y" });
    const [row] = await scratch.query<{ created_at: string; updated_at: string }>("select * from todos");
    expect(row?.created_at).toBe(createdAt.toISOString());
    expect(row?.updated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  test("are read whoever wrote them; what is no time is the epoch", async () => {
    await using scratch = await openLibsqlScratch();
    const written = {
      "2026-01-02 03:04:05": "2026-01-02T03:04:05.000Z",
      "2026-01-02T03:04:05+02:00": "2026-01-02T01:04:05.000Z",
      "2026-01-02": "2026-01-02T00:00:00.000Z",
      yesterday: "1970-01-01T00:00:00.000Z",
      "": "1970-01-01T00:00:00.000Z",
    };
    for (const text of Object.keys(written))
      await scratch.query(`insert into todos (title, created_at) values ('x', '${text}')`);
    await scratch.query("insert into todos (title, created_at) values ('x', x'00ff')");
    const todos = await scratch.database.todos.list({ after: 0, limit: 100 });
    expect(todos.map((todo) => todo.createdAt.toISOString())).toEqual([
      ...Object.values(written),
      "1970-01-01T00:00:00.000Z",
    ]);
  });
});

describe("the schema", () => {
  test("of a newer release is refused", async () => {
    await using scratch = await openLibsqlScratch();
    await scratch.query("insert into __drizzle_migrations (hash, created_at) values ('later', 9e12)");
    await expect(scratch.database.migrate()).rejects.toBeInstanceOf(SchemaTooNew);
  });

  test("is made once when several processes start on the same missing file", async () => {
    await using folder = await openFolder();
    const url = `file:${join(folder.path, "new", "latchkey.db")}`;
    const processes = Array.from({ length: 4 }, () => spawnReplica("migrate", url));
    const outputs = await Promise.all(processes.map((child) => new Response(child.stdout).text()));
    expect(outputs).toEqual(Array.from({ length: 4 }, () => "migrated\n"));
    await using database = await openDatabase({ url });
    expect(await database.todos.list({ after: 0, limit: 1 })).toEqual([]);
  });

  test("needs no migration that has not been generated", async () => {
    const child = Bun.spawnSync(
      [process.execPath, "x", "drizzle-kit", "generate", "--config=drizzle-libsql.config.ts"],
      {
        cwd: join(import.meta.dir, ".."),
      },
    );
    expect(child.stdout.toString()).toContain("No schema changes");
  });

  test("lets no list page be read without the primary key", async () => {
    await using scratch = await openLibsqlScratch();
    const sql = "explain query plan select * from todos where id > 5 order by id limit 21";
    const plan = await scratch.query<{ detail: string }>(sql);
    expect(plan.map(({ detail }) => detail)).toEqual(["SEARCH todos USING INTEGER PRIMARY KEY (rowid>?)"]);
  });
});
