/** Cursor pagination: exact pages in order of id, malformed cursors, and the `limit`: plain digits from 1 to 100, once. */
import { beforeAll, expect, test } from "bun:test";
import type { TodoPage } from "@latchkey/contracts";
import { type Service, shareService, startService } from "../support/service.ts";

const COUNT = 120;

const shared = shareService();
beforeAll(() => fill(shared(), COUNT));

/** Puts todos with the ids 1 to `count` into an empty table. */
async function fill({ sql }: Service, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => `('todo ${index + 1}')`);
  await sql(`insert into todos (title) values ${rows.join(", ")}`);
}

const cursorOf = (payload: unknown): string =>
  Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload)).toString("base64url");

/** Lists todos with a query or with these parameters. */
async function list(query: string | Record<string, string>, { call } = shared()) {
  const text = typeof query === "string" ? query : new URLSearchParams(query);
  const { items, next_cursor } = (await call("GET", `/todos?${text}`)).expect<TodoPage>(200);
  return { ids: items.map(({ id }) => id), next: next_cursor };
}

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("an empty collection returns an empty page without next_cursor and without a total", async () => {
  await using service = await startService();
  expect((await service.call("GET", "/todos")).body).toEqual({ items: [], next_cursor: null });
});

test("a page has 20 complete todos by default, in ascending order of id", async () => {
  const page = (await shared().call("GET", "/todos")).expect<TodoPage>(200);
  expect(Object.keys(page)).toEqual(["items", "next_cursor"]);
  expect(page.items.map(({ id }) => id)).toEqual(range(1, 20));
  expect(page.items[0]).toEqual((await shared().call("GET", "/todos/1")).expect(200));
});

test.each([1, 7, 40, 100])(
  "pages of %d contain every todo once, in order, and the last has no cursor",
  async (limit) => {
    const seen: number[] = [];
    let cursor = "";
    do {
      const page = await list({ limit: String(limit), cursor });
      const remaining = COUNT - seen.length;
      expect(page.ids).toHaveLength(Math.min(limit, remaining));
      expect(page.next === null).toBe(remaining <= limit);
      seen.push(...page.ids);
      cursor = page.next ?? "";
    } while (cursor !== "");
    expect(seen).toEqual(range(1, COUNT));
  },
);

test("next_cursor is padded URL-safe base64 of the last id, and is accepted with and without padding", async () => {
  for (const limit of [1, 10, 100]) {
    const { next } = await list(`limit=${limit}`);
    const unpadded = cursorOf({ id: limit });
    expect(next).toBe(unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, "="));
    for (const cursor of [next ?? "", unpadded]) {
      expect((await list({ limit: "5", cursor })).ids).toEqual(range(limit + 1, limit + 5));
      expect((await list(`limit=5&cursor=${cursor}`)).ids).toEqual(range(limit + 1, limit + 5));
    }
  }
});

test("todos created or deleted between two pages neither repeat nor hide others", async () => {
  await using service = await startService();
  await fill(service, 10);
  const { ids, next } = await list("limit=5", service);
  await service.sql("delete from todos where id in (1, 2, 6)");
  await service.call("POST", "/todos", { body: { title: "late" } });
  const later = await list({ cursor: next ?? "" }, service);
  expect([...ids, ...later.ids]).toEqual([...range(1, 5), ...range(7, 11)]);
});

test("past the last row the page is empty and has no cursor, also for 9007199254740991", async () => {
  for (const id of [COUNT, COUNT + 1, 2 ** 40, Number.MAX_SAFE_INTEGER])
    expect(await list({ cursor: cursorOf({ id }) })).toEqual({ ids: [], next: null });
});

test("a malformed cursor starts the listing at the beginning, without an error", async () => {
  const ten = cursorOf({ id: 10 });
  const payloads = [
    ...["null", "true", "10", '"10"', "[10]", '[{"id":10}]', "{}", '{"ID":10}', '{"id":null}', '{"id":"10"}'],
    ...['{"id":10.5}', '{"id":0}', '{"id":-10}', '{"id":9007199254740992}', '{"id":1e400}', '{"id":[10]}'],
    ...['{"id":true}', '{"id":{"id":10}}', '{"id":10', '{"id":10}}', '{"__proto__":{"id":10}}', ""],
    "[".repeat(3000),
  ];
  const texts = [
    ...["", " ", "abc", "10", "=", "====", "%", "null", "\u0000", "🦊", "a".repeat(5000)],
    ...[` ${ten}`, `${ten} `, `${ten}.`, `${ten.slice(0, 3)}=${ten.slice(3)}`, `${ten}A`, `${ten}=`],
    ...[ten.slice(1), ten.slice(0, -1), `${cursorOf({ id: 5 })}===`],
    Buffer.from([0xff, 0xfe, 0xfd]).toString("base64url"),
    Buffer.from('{"id":10,"\xff":1}', "latin1").toString("base64url"),
    ...payloads.map(cursorOf),
  ];
  for (const cursor of texts) {
    const { ids } = await list({ limit: "2", cursor });
    expect([cursor, ids]).toEqual([cursor, [1, 2]]);
  }
});

test("a cursor in the standard base64 alphabet is malformed", async () => {
  const standard = Buffer.from('{"id":10,"x":"???>>>~~~"}').toString("base64");
  expect(standard).toMatch(/[+/]/);
  expect((await list({ limit: "1", cursor: standard })).ids).toEqual([1]);
  const cursor = standard.replaceAll("+", "-").replaceAll("/", "_");
  expect((await list({ limit: "1", cursor })).ids).toEqual([11]);
});

test("a repeated cursor and one with invalid escapes are malformed", async () => {
  const ten = cursorOf({ id: 10 });
  for (const query of [
    ...[`cursor=${ten}&cursor=${ten}`, `cursor=&cursor=${ten}`, `cursor=${ten}&cursor=`],
    ...["cursor=%", "cursor=%E0%A4%A", "cursor=%ff", "cursor", `cursor[]=${ten}`],
  ])
    expect((await list(`limit=2&${query}`)).ids).toEqual([1, 2]);
});

test("limits of 1 and 100 are accepted, also percent-encoded, and other parameters are ignored", async () => {
  for (const [query, count] of [
    ["limit=1", 1],
    ["limit=100", 100],
    ["limit=%31%30", 10],
    ["offset=5&LIMIT=0&limit[]=0&__proto__=1&constructor=2", 20],
  ] as const)
    expect((await list(query)).ids).toHaveLength(count);
});

test("a limit that is outside 1 to 100, not in plain digits or repeated returns a 422 that names the parameter", async () => {
  const limits = [
    ...["0", "101", "-1", "-0", "1000000", "9007199254740993", "9".repeat(400), "1e1", "0x10", "0b1", "0o7"],
    ...["5.0", "5.", ".5", "05", "%2B5", "+5", "%205", "5%20", "5%0A", "", "abc", "NaN", "Infinity", "null"],
    ...["true", "5,5", "1_0", "٥", "５", "%", "%zz", "%ff", "5%00", "%00", "5n", "5;6", "[5]", "{}"],
    ...["5&limit=5", "5&limit=6", "&limit=5", "5&limit=", "0&cursor=x&cursor=y"],
  ];
  for (const limit of limits) {
    const { status, body } = await shared().call("GET", `/todos?limit=${limit}`);
    expect([limit, status, body]).toMatchObject([limit, 422, { detail: [{ loc: ["query", "limit"] }] }]);
  }
});
