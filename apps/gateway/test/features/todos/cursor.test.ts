/** Cursor pagination: exact pages in order of id, and malformed cursors. */
import { expect, test } from "bun:test";
import type { TodoPage } from "@latchkey/contracts";
import { type Service, startService } from "../../support/service.ts";

const cursorOf = (payload: unknown): string =>
  Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload)).toString("base64url");

/** Puts todos with the ids 1 to `count` into an empty table. */
async function fill({ sql }: Service, count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, index) => `('todo ${index + 1}')`);
  await sql(`insert into todos (title) values ${rows.join(", ")}`);
}

async function list({ call }: Service, query: Record<string, string | number> | string = "") {
  const search = typeof query === "string" ? query : `?${new URLSearchParams(mapText(query))}`;
  const { items, next_cursor } = (await call("GET", `/todos${search}`)).expect<TodoPage>(200);
  return { ids: items.map(({ id }) => id), next: next_cursor };
}

const mapText = (values: Record<string, string | number>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test("an empty collection returns an empty page without next_cursor and without a total", async () => {
  await using service = await startService();
  expect((await service.call("GET", "/todos")).body).toEqual({ items: [], next_cursor: null });
});

test("a page has 20 complete todos by default, in ascending order of id", async () => {
  await using service = await startService();
  await fill(service, 25);
  const page = (await service.call("GET", "/todos")).expect<TodoPage>(200);
  expect(Object.keys(page)).toEqual(["items", "next_cursor"]);
  expect(page.items.map(({ id }) => id)).toEqual(range(1, 20));
  expect(page.items[0]).toEqual((await service.call("GET", "/todos/1")).expect(200));
});

test.each([1, 3, 5, 7, 20, 100])(
  "pages of %d contain every todo once, in order, and the last has no cursor",
  async (limit) => {
    await using service = await startService();
    await fill(service, 21);
    const seen: number[] = [];
    let next: string | null = null;
    do {
      const page = await list(service, next === null ? { limit } : { limit, cursor: next });
      const remaining = 21 - seen.length;
      expect(page.ids).toHaveLength(Math.min(limit, remaining));
      expect(page.next === null).toBe(remaining <= limit);
      seen.push(...page.ids);
      next = page.next;
    } while (next !== null);
    expect(seen).toEqual(range(1, 21));
  },
);

test("next_cursor is padded URL-safe base64 of the last id, and is accepted with and without padding", async () => {
  await using service = await startService();
  await fill(service, 120);
  for (const limit of [1, 10, 100]) {
    const { next } = await list(service, { limit });
    const unpadded = cursorOf({ id: limit });
    expect(next).toBe(unpadded.padEnd(Math.ceil(unpadded.length / 4) * 4, "="));
    for (const cursor of [next ?? "", unpadded]) {
      expect((await list(service, { limit: 5, cursor })).ids).toEqual(range(limit + 1, limit + 5));
      expect((await list(service, `?limit=5&cursor=${cursor}`)).ids).toEqual(range(limit + 1, limit + 5));
    }
  }
});

test("todos created or deleted between two pages neither repeat nor hide others", async () => {
  await using service = await startService();
  await fill(service, 10);
  const { ids, next } = await list(service, { limit: 5 });
  await service.sql("delete from todos where id in (1, 2, 6)");
  await service.call("POST", "/todos", { body: { title: "late" } });
  expect([...ids, ...(await list(service, { cursor: next ?? "" })).ids]).toEqual([
    ...range(1, 5),
    ...range(7, 11),
  ]);
});

test("past the last row the page is empty and has no cursor, also for 9007199254740991", async () => {
  await using service = await startService();
  await fill(service, 3);
  for (const id of [3, 4, 2 ** 40, Number.MAX_SAFE_INTEGER]) {
    expect(await list(service, { cursor: cursorOf({ id }) })).toEqual({ ids: [], next: null });
  }
});

test("a malformed cursor starts the listing at the beginning, without an error", async () => {
  await using service = await startService();
  await fill(service, 12);
  const ten = cursorOf({ id: 10 });
  const payloads = [
    ...["null", "true", "10", '"10"', "[10]", '[{"id":10}]', "{}", '{"ID":10}', '{"id":null}', '{"id":"10"}'],
    ...['{"id":10.5}', '{"id":0}', '{"id":-10}', '{"id":9007199254740992}', '{"id":1e400}', '{"id":[10]}'],
    ...['{"id":true}', '{"id":{"id":10}}', '{"id":10', '{"id":10}}', '{"__proto__":{"id":10}}', ""],
    `${"[".repeat(3000)}`,
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
    const { ids } = await list(service, { limit: 2, cursor });
    expect([cursor, ids]).toEqual([cursor, [1, 2]]);
  }
});

test("a cursor in the standard base64 alphabet is malformed", async () => {
  await using service = await startService();
  await fill(service, 12);
  const standard = Buffer.from('{"id":10,"x":"???>>>~~~"}').toString("base64");
  expect(standard).toMatch(/[+/]/);
  expect((await list(service, { limit: 1, cursor: standard })).ids).toEqual([1]);
  const urlSafe = standard.replaceAll("+", "-").replaceAll("/", "_");
  expect((await list(service, { limit: 1, cursor: urlSafe })).ids).toEqual([11]);
});

test("a repeated cursor and one with invalid escapes are malformed", async () => {
  await using service = await startService();
  await fill(service, 12);
  const ten = cursorOf({ id: 10 });
  for (const query of [`cursor=${ten}&cursor=${ten}`, `cursor=&cursor=${ten}`, `cursor=${ten}&cursor=`]) {
    expect((await list(service, `?limit=2&${query}`)).ids).toEqual([1, 2]);
  }
  for (const query of ["cursor=%", "cursor=%E0%A4%A", "cursor=%ff", "cursor", `cursor[]=${ten}`]) {
    expect((await list(service, `?limit=2&${query}`)).ids).toEqual([1, 2]);
  }
});
