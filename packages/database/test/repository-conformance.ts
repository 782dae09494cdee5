/** What every database must do, whichever it is: a backend's own test is this suite plus its quirks. */

import { describe, expect, test } from "bun:test";
import { type Database, DatabaseUnavailable, UserAlreadyExists } from "../src/index.ts";

/** An empty, migrated database of its own for one test; disposing it leaves nothing behind. */
export interface Scratch extends AsyncDisposable {
  readonly database: Database;
  /** A second connection to the same tables, as another replica has it. */
  reopen(): Promise<Database>;
  /** Runs SQL as a person at the database's own prompt would. */
  execute(sql: string): Promise<void>;
}

const ada = { email: "ada@example.org", username: "ada", hashedPassword: "salt$digest" };
const bob = { email: "bob@example.org", username: "bob", hashedPassword: "salt$digest" };
const largestId = Number.MAX_SAFE_INTEGER;

/** Waits for the database's clock to pass a millisecond that it has already handed out. */
async function clockPast(date: Date): Promise<void> {
  while (Date.now() <= date.getTime() + 1) await Bun.sleep(1);
}

export function repositoryConformance(name: string, open: () => Promise<Scratch>): void {
  describe(`${name} keeps users`, () => {
    test("a created user is read back by id and by e-mail", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const started = Date.now();
      const created = await users.create(ada);
      expect(created).toMatchObject({ ...ada, isActive: true });
      expect(created.id).toBeGreaterThan(0);
      expect(Math.abs(created.createdAt.getTime() - started)).toBeLessThan(5_000);
      expect(created.updatedAt).toEqual(created.createdAt);
      expect(await users.findById(created.id)).toEqual(created);
      expect(await users.findByEmail(ada.email)).toEqual(created);
    });

    test("what is not there is null or false, up to the largest safe id", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      for (const id of [1, 2 ** 31, 2 ** 32, 2 ** 53 - 2, largestId]) {
        expect(await users.findById(id)).toBeNull();
        expect(await users.update(id, { username: "x" })).toBeNull();
        expect(await users.update(id, {})).toBeNull();
        expect(await users.setActive(id, false)).toBeNull();
        expect(await users.delete(id)).toBe(false);
        expect(await users.list({ after: id, limit: 10 })).toEqual([]);
      }
      expect(await users.findByEmail("nobody@example.org")).toBeNull();
    });

    test("ids beyond 32 bits are read as exact numbers", async () => {
      await using scratch = await open();
      const { users, todos } = scratch.database;
      const id = 2 ** 40 + 1;
      await scratch.execute(
        `insert into users (id, email, username, hashed_password) values (${id}, 'a@b.c', 'a', 's$d')`,
      );
      await scratch.execute(`insert into todos (id, title) values (${id}, 'far away')`);
      expect((await users.findById(id))?.id).toBe(id);
      expect((await todos.list({ after: id - 1, limit: 2 })).map((todo) => todo.id)).toEqual([id]);
      expect(await todos.list({ after: id, limit: 2 })).toEqual([]);
    });

    test("an e-mail address or a username that is taken is refused, on create and on update", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      await users.create(ada);
      const other = await users.create(bob);
      await expect(users.create({ ...bob, email: ada.email, username: "new" })).rejects.toBeInstanceOf(
        UserAlreadyExists,
      );
      await expect(users.create({ ...bob, email: "new@example.org" })).rejects.toBeInstanceOf(
        UserAlreadyExists,
      );
      await expect(users.update(other.id, { username: ada.username })).rejects.toBeInstanceOf(
        UserAlreadyExists,
      );
      expect(await users.findById(other.id)).toEqual(other);
      expect(await users.update(other.id, { username: bob.username })).toMatchObject(bob);
    });

    test("of twenty registrations at once over two connections exactly one wins", async () => {
      await using scratch = await open();
      await using second = await scratch.reopen();
      const attempts = Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? scratch.database : second).users.create({
          ...ada,
          email: `ada${index % 3}@example.org`,
        }),
      );
      const outcomes = await Promise.allSettled(attempts);
      const refusals = outcomes
        .filter((outcome) => outcome.status === "rejected")
        .map((outcome) => outcome.reason);
      expect(refusals).toHaveLength(19);
      for (const refusal of refusals) expect(refusal).toBeInstanceOf(UserAlreadyExists);
    });

    test("usernames differ by case, by trailing blanks, by normalisation and beyond ASCII", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const usernames = [
        "ada",
        "Ada",
        "ada ",
        " ada",
        "é",
        "e\u0301",
        "É",
        "ß",
        "ss",
        "\u{1F600}",
        "İ",
        "i",
        "I",
        "ı",
      ];
      for (const [index, username] of usernames.entries()) {
        const user = await users.create({ ...ada, email: `u${index}@example.org`, username });
        expect((await users.findById(user.id))?.username).toBe(username);
      }
      await expect(users.create({ ...bob, username: "\u{1F600}" })).rejects.toBeInstanceOf(UserAlreadyExists);
    });

    test("an e-mail address is compared exactly", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      await users.create(ada);
      for (const email of [
        "Ada@example.org",
        "ada@example.org ",
        " ada@example.org",
        "ada@example.or_",
        "%",
      ]) {
        expect(await users.findByEmail(email)).toBeNull();
      }
    });

    test("text comes back as it went in", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const username = "'; drop table users; --";
      const hashedPassword = "\\ \" ' % _ \u{10FFFF} \r\n\t $1 ? :a";
      const { id } = await users.create({ ...ada, username, hashedPassword });
      expect(await users.findById(id)).toMatchObject({ username, hashedPassword });
    });

    test("an update changes what it names and refreshes updatedAt alone", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const created = await users.create(ada);
      await clockPast(created.updatedAt);
      const renamed = await users.update(created.id, { username: "countess" });
      expect(renamed).toEqual({
        ...created,
        username: "countess",
        updatedAt: renamed?.updatedAt ?? new Date(0),
      });
      expect(renamed?.updatedAt.getTime()).toBeGreaterThan(created.updatedAt.getTime());
      const rehashed = await users.update(created.id, { hashedPassword: "other$digest" });
      expect(rehashed).toMatchObject({ username: "countess", hashedPassword: "other$digest" });
      expect(await users.findById(created.id)).toEqual(rehashed);
    });

    test("an update happens only if the user still has the expected hash and is still active", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const created = await users.create(ada);
      const change = { username: "countess", hashedPassword: "other$digest" };
      for (const stale of [{ hashedPassword: "old$digest" }, { hashedPassword: "" }, { isActive: false }]) {
        expect(await users.update(created.id, change, { ...created, ...stale })).toBeNull();
      }
      expect(await users.findById(created.id)).toEqual(created);
      const changed = await users.update(created.id, change, created);
      expect(changed).toMatchObject({ ...change, isActive: true });
      expect(await users.update(created.id, { username: "ada" }, created)).toBeNull();
      await users.setActive(created.id, false);
      expect(await users.update(created.id, { username: "ada" }, changed ?? created)).toBeNull();
      expect(await users.findById(created.id)).toMatchObject({ ...change, isActive: false });
    });

    test("of two updates at once that expect the same hash, exactly one happens", async () => {
      await using scratch = await open();
      await using second = await scratch.reopen();
      const created = await scratch.database.users.create(ada);
      const outcomes = await Promise.all([
        scratch.database.users.update(created.id, { hashedPassword: "first$digest" }, created),
        second.users.update(created.id, { hashedPassword: "second$digest" }, created),
      ]);
      const winner = await scratch.database.users.findById(created.id);
      expect(outcomes.toSorted((one) => (one === null ? 1 : -1))).toEqual([winner, null]);
    });

    test("an empty update changes nothing", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const created = await users.create(ada);
      await clockPast(created.updatedAt);
      expect(await users.update(created.id, {})).toEqual(created);
    });

    test("deactivation holds until activation", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const { id } = await users.create(ada);
      expect((await users.setActive(id, false))?.isActive).toBe(false);
      expect((await users.findById(id))?.isActive).toBe(false);
      expect((await users.setActive(id, true))?.isActive).toBe(true);
    });

    test("an id is never used again, even that of the newest row", async () => {
      await using scratch = await open();
      const { users, todos } = scratch.database;
      const user = await users.create(ada);
      expect(await users.delete(user.id)).toBe(true);
      expect(await users.delete(user.id)).toBe(false);
      expect(await users.findByEmail(ada.email)).toBeNull();
      expect((await users.create(ada)).id).toBeGreaterThan(user.id);
      const todo = await todos.create({ title: "once", completed: false });
      expect(await todos.delete(todo.id)).toBe(true);
      expect((await todos.create({ title: "twice", completed: false })).id).toBeGreaterThan(todo.id);
    });

    test("users are listed by ascending id", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const first = await users.create(ada);
      const second = await users.create(bob);
      expect(await users.list({ after: 0, limit: 10 })).toEqual([first, second]);
      expect(await users.list({ after: 0, limit: 1 })).toEqual([first]);
      expect(await users.list({ after: first.id, limit: 10 })).toEqual([second]);
    });
  });

  describe(`${name} keeps todos`, () => {
    test("a todo is created, read, changed and deleted", async () => {
      await using scratch = await open();
      const { todos } = scratch.database;
      const created = await todos.create({ title: "Write", completed: false });
      expect(created).toMatchObject({ title: "Write", completed: false });
      expect(created.updatedAt).toEqual(created.createdAt);
      expect(await todos.findById(created.id)).toEqual(created);
      await clockPast(created.updatedAt);
      const done = await todos.update(created.id, { completed: true });
      expect(done).toEqual({ ...created, completed: true, updatedAt: done?.updatedAt ?? new Date(0) });
      expect(done?.updatedAt.getTime()).toBeGreaterThan(created.updatedAt.getTime());
      expect(await todos.update(created.id, { title: "Rewrite" })).toMatchObject({
        title: "Rewrite",
        completed: true,
      });
      const before = await todos.findById(created.id);
      expect(await todos.update(created.id, {})).toEqual(before);
      expect(await todos.delete(created.id)).toBe(true);
      expect(await todos.delete(created.id)).toBe(false);
      expect(await todos.findById(created.id)).toBeNull();
      expect(await todos.update(created.id, { title: "Gone" })).toBeNull();
    });

    test("pages are ascending, complete and free of overlap, also after deletions", async () => {
      await using scratch = await open();
      const { todos } = scratch.database;
      const ids: number[] = [];
      for (let index = 0; index < 25; index++) {
        ids.push((await todos.create({ title: `todo ${index}`, completed: index % 2 === 1 })).id);
      }
      for (const index of [20, 10, 0]) await todos.delete(ids.splice(index, 1)[0] ?? 0);
      const seen: number[] = [];
      for (let after = 0; ; after = seen.at(-1) ?? 0) {
        const page = await todos.list({ after, limit: 7 });
        expect(page.length).toBeLessThanOrEqual(7);
        if (page.length === 0) break;
        seen.push(...page.map((todo) => todo.id));
      }
      expect(seen).toEqual(ids);
      expect(await todos.list({ after: largestId, limit: 7 })).toEqual([]);
      expect(await todos.findById(largestId)).toBeNull();
    });

    test("a row inserted by hand takes its defaults from the database", async () => {
      await using scratch = await open();
      const { todos, users } = scratch.database;
      await scratch.execute("insert into todos (title) values ('by hand')");
      await scratch.execute(
        "insert into users (email, username, hashed_password) values ('a@b.c', 'a', 's$d')",
      );
      const [todo] = await todos.list({ after: 0, limit: 2 });
      const user = await users.findByEmail("a@b.c");
      expect(todo).toMatchObject({ title: "by hand", completed: false });
      expect(user).toMatchObject({ isActive: true });
      for (const date of [todo?.createdAt, todo?.updatedAt, user?.createdAt, user?.updatedAt]) {
        expect(Math.abs((date?.getTime() ?? 0) - Date.now())).toBeLessThan(5_000);
      }
    });

    test("a change made at the prompt counts at the next read", async () => {
      await using scratch = await open();
      const { users } = scratch.database;
      const { id } = await users.create(ada);
      await scratch.execute("update users set is_active = false");
      expect((await users.findById(id))?.isActive).toBe(false);
    });

    test("timestamps keep their milliseconds", async () => {
      await using scratch = await open();
      const { todos } = scratch.database;
      await scratch.execute(
        "insert into todos (title, created_at) values ('then', '2026-01-02T03:04:05.678Z')",
      );
      const [todo] = await todos.list({ after: 0, limit: 1 });
      expect(todo?.createdAt.toISOString()).toBe("2026-01-02T03:04:05.678Z");
    });
  });

  describe(`${name} as a resource`, () => {
    test("answers a ping, and says so when it is closed", async () => {
      await using scratch = await open();
      const second = await scratch.reopen();
      await second.ping();
      await second.close();
      await second.close();
      await expect(second.ping()).rejects.toBeInstanceOf(DatabaseUnavailable);
      await expect(second.users.findById(1)).rejects.toBeInstanceOf(DatabaseUnavailable);
      await expect(second.todos.create({ title: "x", completed: false })).rejects.toBeInstanceOf(
        DatabaseUnavailable,
      );
      await scratch.database.ping();
    });

    test("puts nothing of a query into an error", async () => {
      await using scratch = await open();
      const second = await scratch.reopen();
      const secret = crypto.randomUUID();
      await second.users.create(ada);
      const taken = await second.users.create({ ...ada, hashedPassword: secret }).catch((error) => error);
      await second.close();
      const closed = await second.users.create({ ...bob, hashedPassword: secret }).catch((error) => error);
      expect([taken.code, closed.code]).toEqual(["USER_ALREADY_EXISTS", "DATABASE_UNAVAILABLE"]);
      for (const error of [taken, closed]) expect(Bun.inspect(error, { depth: 10 })).not.toContain(secret);
    });

    test("migrating again, also from several connections at once, changes nothing", async () => {
      await using scratch = await open();
      const created = await scratch.database.users.create(ada);
      await using second = await scratch.reopen();
      await Promise.all([scratch.database.migrate(), second.migrate(), scratch.database.migrate()]);
      expect(await second.users.findById(created.id)).toEqual(created);
    });
  });
}
