/** The feed of account events over HTTP, on both databases. */
import { expect, test } from "bun:test";
import type { AccountEvent, AccountEventPage, AdminUser } from "@latchkey/contracts";
import { createEventFeed } from "../../../src/features/events/feed.ts";
import { createEventCursors } from "../../../src/tokens/event-cursors.ts";
import { KEY, openAdministration } from "../../support/administration.ts";
import { callService } from "../../support/client.ts";
import {
  eachDatabase,
  newCredentials,
  SECRET_KEY,
  type Service,
  startService,
} from "../../support/service.ts";

const EVENT_KEY = "e".repeat(32);
const ENV = { ADMIN_PORT: "0", ADMIN_API_KEYS: `shop:${KEY}`, ADMIN_EVENT_KEYS: `api:${EVENT_KEY}` };
const cursors = createEventCursors([SECRET_KEY]);

/** A service that records events, and a client with a key that can only read them. */
async function follow(service: Service) {
  const admin = await openAdministration(service);
  const send = (query: string, signal?: AbortSignal) =>
    callService(`${admin.url}/admin/events?${query}`, "GET", { token: EVENT_KEY, ...(signal && { signal }) });
  const read = async (query: string) => (await send(query)).expect<AccountEventPage>(200);
  return {
    admin,
    send,
    read,
    /** All events from the cursor on. */
    async readAll(query: string): Promise<AccountEvent[]> {
      const items: AccountEvent[] = [];
      for (
        let page = await read(query);
        page.items.length > 0;
        page = await read(`after=${page.next_cursor}`)
      )
        items.push(...page.items);
      return items;
    },
    [Symbol.asyncDispose]: () => admin[Symbol.asyncDispose](),
  };
}

/** Adds events as the triggers do. */
const addEvents = (service: Service, count: number) =>
  service.sql(
    `insert into events (type, user_id) values ${Array.from({ length: count }, (_, index) => `('user.deleted', ${index + 1})`)}`,
  );

eachDatabase((startOn) => {
  test("each change of a user is one event, in order, without names and addresses; a page continues where the last one ended", async () => {
    await using service = await startOn({ env: ENV });
    await service.database.events.enable(30);
    await using feed = await follow(service);
    const { id, token, email, password } = await service.createUser();
    await service.call("PATCH", "/auth/me", { token, body: { username: newCredentials().username } });
    const body = { password: "another password", current_password: password };
    await service.call("PATCH", "/auth/me", { token, body });
    const change = { is_active: false, roles: ["a"], reason: "spam" };
    (
      await feed.admin.call("PATCH", `/admin/users/${id}`, { body: { ...change, email_verified: true } })
    ).expect<AdminUser>(200);
    await service.login({ email, password: "another password" });
    await feed.admin.call("DELETE", `/admin/users/${id}`);

    const first = await feed.read("limit=2");
    const [created, renamed] = first.items;
    const rest = await feed.readAll(`after=${first.next_cursor}&limit=1`);
    const [changed, banned, deleted, ...others] = rest;
    const of = (event: Pick<AccountEvent, "type" | "token_version"> & Partial<AccountEvent>) => ({
      ...{ position: expect.any(Number), user_id: id, created_at: expect.any(String) },
      ...{ changed: [], is_active: true, kept_jti: null, ...event },
    });
    expect(created).toEqual(of({ type: "user.created", token_version: 0 }));
    expect(renamed).toEqual(of({ type: "user.updated", changed: ["username"], token_version: 0 }));
    const jti = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).jti;
    expect(changed).toEqual(
      of({ type: "user.updated", changed: ["tokens"], token_version: 1, kept_jti: jti }),
    );
    expect(banned).toMatchObject({ type: "user.updated", is_active: false });
    expect(banned?.changed.toSorted()).toEqual(["email_verified", "is_active", "roles"]);
    expect(deleted).toMatchObject({ type: "user.deleted", user_id: id });
    expect(others).toEqual([]);
    const positions = [...first.items, ...rest].map(({ position }) => position);
    expect(positions).toEqual(positions.toSorted((one, other) => one - other));
    expect(JSON.stringify([first, rest])).not.toMatch(/example\.org|user\d|password|spam/);
    expect(await feed.read("after=now")).toMatchObject({ items: [] });
    expect(await feed.readAll("")).toEqual([...first.items, ...rest]);
  });

  test("`now` and `since` place a cursor; one that is forged, of another epoch, beyond the end or pruned is an error", async () => {
    await using service = await startOn({ env: ENV });
    const { events } = service.database;
    await using feed = await follow(service);
    for (const query of [
      "",
      "after=now",
      "since=60",
      "wait=1",
      `after=${cursors.sign({ epoch: "x", position: 1 })}`,
    ])
      expect((await feed.send(query)).body).toEqual({ detail: "Not Found", code: "NOT_FOUND" });
    await events.enable(1);
    expect(await feed.read("")).toMatchObject({ items: [] });
    await addEvents(service, 3);
    const [now, since] = [await feed.read("after=now"), await feed.read("since=60")];
    expect([now.items, since.items]).toEqual([[], []]);
    expect((await feed.read(`after=${since.next_cursor}`)).items).toHaveLength(3);
    expect(await feed.read(`after=${now.next_cursor}`)).toEqual(now);
    await addEvents(service, 1);
    expect((await feed.read(`after=${now.next_cursor}`)).items).toMatchObject([{ user_id: 1 }]);

    const { epoch } = cursors.verify(now.next_cursor) ?? { epoch: "" };
    const sign = (position: number, of = epoch) => `after=${cursors.sign({ epoch: of, position })}`;
    const [text = "", mac = ""] = now.next_cursor.split(".");
    const forged = Buffer.from(JSON.stringify(["events", epoch, Number.MAX_SAFE_INTEGER, 1])).toString(
      "base64url",
    );
    const invalid = [
      "after=",
      "after=1",
      "after=-1",
      `after=${text}`,
      `after=${forged}.${mac}`,
      `after=${text}.${mac}x`,
    ];
    invalid.push(
      "after=eyJpZCI6MX0=",
      "since=-1",
      "since=60&after=now",
      "limit=0",
      "limit=1001",
      "wait=26",
      "wait=-1",
    );
    invalid.push("cursor=x", "after=now&after=now", `after=${"x".repeat(5_000)}`);
    for (const query of invalid) {
      const response = await feed.send(query);
      expect([query, response.status]).toEqual([query, 422]);
    }
    await service.sql("update events set created_at = '2020-01-01T00:00:00.000Z' where position <= 2");
    expect(await events.prune()).toBe(2);
    const expired = { ...{ code: "CURSOR_EXPIRED" } };
    for (const query of [sign(-1), sign(0), sign(1), sign(5), sign(3, "another"), `${sign(1)}&wait=25`])
      expect([query, (await feed.send(query)).expect(410)]).toEqual([
        query,
        expect.objectContaining(expired),
      ]);
    expect((await feed.read(sign(2))).items.map(({ position }) => position)).toEqual([3, 4]);
    expect((await feed.read("")).items).toHaveLength(2);
    const last = (await feed.read("after=now")).next_cursor;
    await events.disable();
    await events.enable(1);
    expect((await feed.send(`after=${last}`)).status).toBe(410);
  });

  test("a request waits until another client's change, a client that leaves frees its place, and a stop ends all waits", async () => {
    await using service = await startOn({ env: ENV });
    await service.database.events.enable(1);
    await using feed = await follow(service);
    const { admin } = feed;
    const untilWaiting = async (count: number) => {
      while (admin.waiting.at(-1) !== count) await new Promise((resolve) => setImmediate(resolve));
    };
    const { next_cursor } = await feed.read("after=now");
    const query = `after=${next_cursor}&wait=25`;
    const startedAt = performance.now();
    const waits = Array.from({ length: 99 }, () => feed.read(query));
    const leaving = new AbortController();
    const left = feed.send(query, leaving.signal).catch((error) => error.name);
    await untilWaiting(100);
    const rejected = await feed.send(query);
    expect(rejected.body).toMatchObject({ code: "TOO_MANY_READERS" });
    expect([rejected.status, rejected.headers.get("retry-after")]).toEqual([503, "1"]);
    leaving.abort();
    expect(await left).toBe("AbortError");
    await untilWaiting(99);
    const { id } = await service.createUser();
    const pages = await Promise.all(waits);
    expect(performance.now() - startedAt).toBeLessThan(25_000);
    for (const { items } of pages) expect(items).toMatchObject([{ type: "user.created", user_id: id }]);
    const [page] = pages;
    const again = Array.from({ length: 10 }, () => feed.read(`after=${page?.next_cursor}&wait=25`));
    await untilWaiting(10);
    admin.stop();
    expect(await Promise.all(again)).toEqual(Array(10).fill({ items: [], next_cursor: page?.next_cursor }));
    expect(await feed.read(`after=${page?.next_cursor}&wait=25`)).toMatchObject({ items: [] });
    expect(admin.log.at(-1)).toMatchObject({ actor: "admin:api", route: "/admin/events", status: 200 });
  });
});

test("a wait ends before its connection is closed because it is idle", async () => {
  await using service = await startService({ env: ENV });
  await service.database.events.enable(1);
  const { events } = service.database;
  const stopping = new AbortController();
  const feed = createEventFeed({
    events,
    eventCursors: cursors,
    idleTimeoutSeconds: 5.01,
    stopping: stopping.signal,
  });
  expect(await feed.read({ wait: 25 }, stopping.signal)).toMatchObject({ items: [] });
});

test("the document describes events only while they are recorded, and restricted keys only with their variables", async () => {
  await using service = await startService({ env: { ADMIN_PORT: "0", ADMIN_API_KEYS: ENV.ADMIN_API_KEYS } });
  await using restricted = await startService({ env: ENV });
  await using admin = await openAdministration(service);
  await using other = await openAdministration(restricted);
  const read = async ({ call }: typeof admin) => (await call("GET", "/admin/openapi.json")).text;
  const before = await read(admin);
  expect(before).not.toMatch(/events|READ_KEYS|KEY_NOT_ALLOWED|CURSOR_EXPIRED/i);
  expect(await read(other)).toMatch(/KEY_NOT_ALLOWED/);
  expect(await read(other)).not.toMatch(/"\/admin\/events"|CURSOR_EXPIRED/);
  await service.database.events.enable(1);
  expect(Object.keys(JSON.parse(await read(admin)).paths)).toContain("/admin/events");
  expect(await read(admin)).toMatch(/TOO_MANY_READERS/);
  await service.database.events.disable();
  expect(await read(admin)).toBe(before);
});
