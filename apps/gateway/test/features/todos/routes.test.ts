/** Create, read, update and delete todos, without a token. */
import { expect, test } from "bun:test";
import type { Todo } from "@latchkey/contracts";
import { clockPast } from "../../support/clock.ts";
import { startService } from "../../support/service.ts";

const MISSING = { detail: "Todo not found", code: "TODO_NOT_FOUND" };
const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

test("POST returns 201 with the complete todo, whose `completed` is false by default", async () => {
  await using service = await startService();
  const response = await service.call("POST", "/todos", { body: { title: "Buy milk" } });
  const todo = response.expect<Todo>(201);
  expect(Object.keys(todo)).toEqual(["id", "title", "completed", "created_at", "updated_at"]);
  expect(todo).toMatchObject({ title: "Buy milk", completed: false });
  expect(todo.created_at).toMatch(TIMESTAMP);
  expect(todo.updated_at).toBe(todo.created_at);
  const done = await service.call("POST", "/todos", { body: { title: "Done", completed: true } });
  expect(done.expect<Todo>(201)).toMatchObject({ title: "Done", completed: true });
  expect(done.expect<Todo>(201).id).toBeGreaterThan(todo.id);
});

test("PATCH updates title, completed or both, and updated_at", async () => {
  await using service = await startService();
  let todo = (await service.call("POST", "/todos", { body: { title: "first" } })).expect<Todo>(201);
  for (const change of [{ title: "second" }, { completed: true }, { title: "third", completed: false }]) {
    clockPast(todo.updated_at);
    const response = await service.call("PATCH", `/todos/${todo.id}`, { body: change });
    const changed = response.expect<Todo>(200);
    expect(changed).toEqual({ ...todo, ...change, updated_at: changed.updated_at });
    expect(Date.parse(changed.updated_at)).toBeGreaterThan(Date.parse(todo.updated_at));
    expect((await service.call("GET", `/todos/${todo.id}`)).body).toEqual(changed);
    todo = changed;
  }
});

test("PATCH with {} or unknown members changes nothing, not even updated_at", async () => {
  await using service = await startService();
  const todo = (await service.call("POST", "/todos", { body: { title: "x" } })).expect<Todo>(201);
  clockPast(todo.updated_at);
  for (const body of [{}, { id: 99, created_at: "x", owner: 1 }]) {
    const response = await service.call("PATCH", `/todos/${todo.id}`, { body });
    expect([response.status, response.body]).toEqual([200, todo]);
  }
});

test("DELETE returns 204 without a body, and afterwards every method returns 404", async () => {
  await using service = await startService();
  const { id } = (await service.call("POST", "/todos", { body: { title: "x" } })).expect<Todo>(201);
  const removed = await service.call("DELETE", `/todos/${id}`);
  expect([removed.status, removed.text]).toEqual([204, ""]);
  for (const [method, body] of [["GET"], ["PATCH", {}], ["PATCH", { title: "y" }], ["DELETE"]] as const) {
    const response = await service.call(method, `/todos/${id}`, { body });
    expect([method, response.status, response.body]).toEqual([method, 404, MISSING]);
  }
});

test("an id that is not a positive safe integer in plain digits returns 422 for every method", async () => {
  await using service = await startService();
  await service.call("POST", "/todos", { body: { title: "x" } });
  const ids = [
    ...["0", "-1", "01", "+1", "1.0", "1e0", "0x1", "1_0", "abc", "NaN", "null", "%31%30x", "1%20", "%201"],
    ...["1%00", "%00", "%ff", "%E0%A4%A", "%zz", "%", "1%2F2", "٣", "9007199254740992", "9".repeat(400)],
  ];
  for (const id of ids) {
    for (const [method, body] of [["GET"], ["PATCH", {}], ["DELETE"]] as const) {
      const response = await service.call(method, `/todos/${id}`, { body });
      expect([id, method, response.status, response.body]).toMatchObject([
        id,
        method,
        422,
        { detail: [{ loc: ["path", "id"] }] },
      ]);
    }
  }
});

test("9007199254740991 and other ids that do not exist return 404", async () => {
  await using service = await startService();
  for (const id of ["1", "2147483648", "4294967297", "9007199254740990", "9007199254740991"]) {
    for (const [method, body] of [["GET"], ["PATCH", { title: "x" }], ["DELETE"]] as const) {
      const response = await service.call(method, `/todos/${id}`, { body });
      expect([id, response.status, response.body]).toEqual([id, 404, MISSING]);
    }
  }
});

test("a title has 1 to 200 characters, counted in code points, on POST and PATCH", async () => {
  await using service = await startService();
  const { id } = (await service.call("POST", "/todos", { body: { title: "x" } })).expect<Todo>(201);
  const statusesOf = async (title: unknown) => [
    (await service.call("POST", "/todos", { body: { title } })).status,
    (await service.call("PATCH", `/todos/${id}`, { body: { title } })).status,
  ];
  for (const title of [" ", "t".repeat(200), "🦊".repeat(200), "e\u0301".repeat(100)]) {
    expect(await statusesOf(title)).toEqual([201, 200]);
  }
  for (const title of ["", "t".repeat(201), "🦊".repeat(201), `${"e\u0301".repeat(100)}e`, null, 1, ["x"]]) {
    expect(await statusesOf(title)).toEqual([422, 422]);
  }
});

test("completed must be a JSON boolean", async () => {
  await using service = await startService();
  const { id } = (await service.call("POST", "/todos", { body: { title: "x" } })).expect<Todo>(201);
  for (const completed of ["true", 1, 0, null, {}, []]) {
    const issue = { detail: [{ loc: ["body", "completed"], type: "boolean_type" }] };
    const posted = await service.call("POST", "/todos", { body: { title: "x", completed } });
    expect([posted.status, posted.body]).toMatchObject([422, issue]);
    const patched = await service.call("PATCH", `/todos/${id}`, { body: { completed } });
    expect([patched.status, patched.body]).toMatchObject([422, issue]);
  }
});
