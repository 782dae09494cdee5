/** The behaviour that all databases have in common. Each database's own test runs this suite and tests its peculiarities. */
import { describe, expect } from "bun:test";
import { DatabaseUnavailable, UserAlreadyExists } from "../../src/index.ts";
import { eventConformance } from "./event-conformance.ts";
import { factorConformance } from "./factor-conformance.ts";
import { identityConformance } from "./identity-conformance.ts";
import { importConformance } from "./import-conformance.ts";
import { mailClaimConformance } from "./mail-claim-conformance.ts";
import { networkConformance } from "./network-conformance.ts";
import { outboxConformance } from "./outbox-conformance.ts";
import { passkeyConformance } from "./passkey-conformance.ts";
import { searchConformance } from "./search-conformance.ts";
import { ada, createTest, type TestDatabase, waitUntilAfter } from "./test-database.ts";
import { userConformance } from "./user-conformance.ts";

const MAX_ID = Number.MAX_SAFE_INTEGER;

export function repositoryConformance(name: string, open: () => Promise<TestDatabase>): void {
  const test = createTest(open);

  describe(`users on ${name}`, () => userConformance(test));
  describe(`operators on ${name}`, () => searchConformance(test));
  describe(`networks on ${name}`, () => networkConformance(test));
  describe(`the outbox on ${name}`, () => outboxConformance(test));
  describe(`claims of mails on ${name}`, () => mailClaimConformance(test));
  describe(`passkeys on ${name}`, () => passkeyConformance(test));
  describe(`identities on ${name}`, () => identityConformance(test));
  describe(`second factors on ${name}`, () => factorConformance(test));
  describe(`imported users on ${name}`, () => importConformance(test));

  describe(`events on ${name}`, () => eventConformance(test));

  describe(`digests on ${name}`, () => {
    test("all connections compute the same digest of an e-mail, which another database does not", async (given) => {
      const [digest, again] = [await given.digests.openEmailDigest(), await given.reopen()];
      expect(digest(ada.email)).toMatch(/^[0-9a-f]{32}$/);
      expect((await again.digests.openEmailDigest())(ada.email)).toBe(digest(ada.email));
      await again.close();
      await using other = await open();
      expect((await other.database.digests.openEmailDigest())(ada.email)).not.toBe(digest(ada.email));
    });
  });

  describe(`todos on ${name}`, () => {
    test("a todo can be created, read, updated and deleted", async ({ todos }) => {
      const created = await todos.create({ title: "Write", completed: false });
      expect(created).toMatchObject({ title: "Write", completed: false });
      expect(created.updatedAt).toEqual(created.createdAt);
      expect(await todos.findById(created.id)).toEqual(created);
      await waitUntilAfter(created.updatedAt);
      const done = await todos.update(created.id, { completed: true });
      expect(done).toEqual({ ...created, completed: true, updatedAt: done?.updatedAt ?? "" });
      expect(Date.parse(done?.updatedAt ?? "")).toBeGreaterThan(Date.parse(created.updatedAt));
      const renamed = await todos.update(created.id, { title: "Rewrite" });
      expect(renamed).toMatchObject({ title: "Rewrite", completed: true });
      expect(await todos.update(created.id, {})).toEqual(renamed);
      expect(await todos.delete(created.id)).toBe(true);
      expect(await todos.delete(created.id)).toBe(false);
      expect(await todos.findById(created.id)).toBeNull();
      expect(await todos.update(created.id, { title: "Gone" })).toBeNull();
    });

    test("pages are ascending, complete and do not overlap, also after deletions", async ({ todos }) => {
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
      expect(await todos.list({ after: MAX_ID, limit: 7 })).toEqual([]);
      expect(await todos.findById(MAX_ID)).toBeNull();
    });

    test("a row inserted with SQL gets its defaults from the database", async ({ todos, users, query }) => {
      await query("insert into todos (title) values ('by hand')");
      await query("insert into users (email, username, hashed_password) values ('a@b.c', 'a', 's$d')");
      const [todo] = await todos.list({ after: 0, limit: 2 });
      const user = await users.findByEmail("a@b.c");
      expect(todo).toMatchObject({ title: "by hand", completed: false });
      expect(user).toMatchObject({ isActive: true, tokenVersion: 0, passwordChangeTokenId: null });
      for (const date of [todo?.createdAt, todo?.updatedAt, user?.createdAt, user?.updatedAt]) {
        expect(Math.abs(Date.parse(date ?? "") - Date.now())).toBeLessThan(5_000);
      }
    });
  });

  describe(`the ${name} connection`, () => {
    test("each call after close is unavailable, and errors contain no part of a query", async ({
      database,
      reopen,
    }) => {
      const second = await reopen();
      const { users, ping, close } = second;
      await ping();
      const user = { ...ada, hashedPassword: crypto.randomUUID() };
      await database.users.create(user);
      const taken = await users.create(user).catch((error) => error);
      expect(taken).toBeInstanceOf(UserAlreadyExists);
      await close();
      await close();
      const errors = [taken];
      for (const call of [ping, () => users.findById(1), () => users.create(user)])
        errors.push(await call().catch((error) => error));
      expect(errors.slice(1)).toEqual(Array(3).fill(expect.any(DatabaseUnavailable)));
      expect(Bun.inspect(errors, { depth: 10 })).not.toContain(user.hashedPassword);
      await database.ping();
    });
  });
}
