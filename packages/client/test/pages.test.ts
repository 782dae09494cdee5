/** Iteration that survives an error: the page that failed is requested again. */
import { expect, test } from "bun:test";
import { createClient } from "../src/index.ts";
import { errorOf } from "./support/service.ts";

/** Three pages of two todos. `failures` are the numbers of the requests that fail. */
function startClient(failures: readonly number[]) {
  const cursors: (string | null)[] = [];
  const client = createClient({
    baseUrl: "http://service.example",
    retries: 0,
    fetch: async ({ url }) => {
      const cursor = new URL(url).searchParams.get("cursor");
      const request = cursors.push(cursor);
      if (failures.includes(request)) return Response.json({ detail: "failed" }, { status: 500 });
      const page = Number(cursor ?? 1);
      const items = [{ id: page * 2 - 1 }, { id: page * 2 }];
      return Response.json({ items, next_cursor: page < 3 ? String(page + 1) : null });
    },
  });
  return { client, cursors };
}

test("after an error, next requests the page that failed", async () => {
  const { client, cursors } = startClient([2]);
  const pages = client.todoPages();
  const ids: number[] = [];
  const iterate = async () => {
    for await (const { items } of pages) ids.push(...items.map(({ id }) => id));
  };
  expect(await errorOf(iterate())).toMatchObject({ status: 500 });
  await iterate();
  expect(ids).toEqual([1, 2, 3, 4, 5, 6]);
  expect(cursors).toEqual([null, "2", "2", "3"]);
  expect(await pages.next()).toEqual({ done: true, value: undefined });
});

test("todos of a page that failed are not skipped, and calls in parallel keep their order", async () => {
  const { client } = startClient([1, 3]);
  const todos = client.todos();
  const results = await Promise.all(Array.from({ length: 9 }, () => todos.next().catch(() => null)));
  expect(results.map((result) => (result?.value ? result.value.id : result?.done))).toEqual([
    undefined,
    ...[1, 2],
    undefined,
    ...[3, 4, 5, 6],
    true,
  ]);
});

test("an iteration that ends early requests nothing more", async () => {
  const { client, cursors } = startClient([]);
  const pages = client.todoPages();
  for await (const _ of pages) break;
  expect(await pages.next()).toEqual({ done: true, value: undefined });
  expect(cursors).toEqual([null]);
});
