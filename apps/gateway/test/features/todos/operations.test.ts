/** Create, read, update and delete todos, without a token. */
import { expect, test } from "bun:test";
import type { Todo } from "@latchkey/contracts";
import { clockPast } from "../../support/clock.ts";
import { shareService } from "../../support/service.ts";

const MISSING = { detail: "Todo not found", code: "TODO_NOT_FOUND" };
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

const shared = shareService();

const post = (body: object) => shared().call("POST", "/todos", { body });
const patch = (id: number | string, body: object) => shared().call("PATCH", `/todos/${id}`, { body });
const create = async (body: object) => (await post(body)).expect<Todo>(201);
const sendAll = (id: number | string) =>
  Promise.all([shared().call("GET", `/todos/${id}`), patch(id, {}), shared().call("DELETE", `/todos/${id}`)]);

test("POST returns 201 with the complete todo, whose `completed` is false by default", async () => {
  const todo = await create({ title: "Buy milk" });
  expect(Object.keys(todo)).toEqual(["id", "title", "completed", "created_at", "updated_at"]);
  expect(todo).toMatchObject({ title: "Buy milk", completed: false });
  expect(todo.created_at).toMatch(TIMESTAMP);
  expect(todo.updated_at).toBe(todo.created_at);
  const done = await create({ title: "Done", completed: true });
  expect(done).toMatchObject({ title: "Done", completed: true });
  expect(done.id).toBeGreaterThan(todo.id);
});

test("PATCH updates title, completed or both, and updated_at", async () => {
  let todo = await create({ title: "first" });
  for (const change of [{ title: "second" }, { completed: true }, { title: "third", completed: false }]) {
    clockPast(todo.updated_at);
    const changed = (await patch(todo.id, change)).expect<Todo>(200);
    expect(changed).toEqual({ ...todo, ...change, updated_at: changed.updated_at });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(todo.updated_at));
    expect((await shared().call("GET", `/todos/${todo.id}`)).body).toEqual(changed);
    todo = changed;
  }
});

test("PATCH with {} or unknown members changes nothing, not even updated_at", async () => {
  const todo = await create({ title: "x" });
  clockPast(todo.updated_at);
  for (const body of [{}, { id: 99, created_at: "x", owner: 1 }])
    expect((await patch(todo.id, body)).expect<Todo>(200)).toEqual(todo);
});

test("DELETE returns 204 without a body; every method returns 404 for a deleted id and for ids that never existed", async () => {
  const { id } = await create({ title: "x" });
  const removed = await shared().call("DELETE", `/todos/${id}`);
  expect([removed.status, removed.text]).toEqual([204, ""]);
  for (const missing of [id, 2 ** 31, 2 ** 32 + 1, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER]) {
    for (const { status, body } of [...(await sendAll(missing)), await patch(missing, { title: "y" })])
      expect([missing, status, body]).toEqual([missing, 404, MISSING]);
  }
});

test("an id that is not a positive safe integer in plain digits returns 422 for every method", async () => {
  const ids = [
    ...["0", "-1", "01", "+1", "1.0", "1e0", "0x1", "1_0", "abc", "NaN", "null", "%31%30x", "1%20", "%201"],
    ...["1%00", "%00", "%ff", "%E0%A4%A", "%zz", "%", "1%2F2", "٣", "9007199254740992", "9".repeat(400)],
  ];
  for (const id of ids) {
    for (const { status, body } of await sendAll(id))
      expect([id, status, body]).toMatchObject([id, 422, { detail: [{ loc: ["path", "id"] }] }]);
  }
});

test("a title has 1 to 200 characters, counted in code points, on POST and PATCH", async () => {
  const { id } = await create({ title: "x" });
  const statusesOf = async (body: object) => [(await post(body)).status, (await patch(id, body)).status];
  for (const title of [" ", "t".repeat(200), "🦊".repeat(200), "e\u0301".repeat(100)])
    expect(await statusesOf({ title })).toEqual([201, 200]);
  for (const title of ["", "t".repeat(201), "🦊".repeat(201), `${"e\u0301".repeat(100)}e`])
    expect(await statusesOf({ title })).toEqual([422, 422]);
});

test("completed must be a JSON boolean", async () => {
  const { id } = await create({ title: "x" });
  const rejection = { status: 422, body: { detail: [{ loc: ["body", "completed"], type: "boolean_type" }] } };
  for (const completed of ["true", 1, 0, null, {}, []]) {
    expect(await post({ title: "x", completed })).toMatchObject(rejection);
    expect(await patch(id, { completed })).toMatchObject(rejection);
  }
});
