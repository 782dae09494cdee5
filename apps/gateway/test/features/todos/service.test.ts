/** The `limit` of a page: plain digits from 1 to 100, once. */
import { expect, test } from "bun:test";
import type { TodoPage } from "@latchkey/contracts";
import { shareService, startService } from "../../support/service.ts";

test("limits of 1 and 100 are accepted, also percent-encoded", async () => {
  await using service = await startService();
  const rows = Array.from({ length: 101 }, (_, index) => `(${index + 1}, 'x')`);
  await service.sql(`insert into todos (id, title) values ${rows.join(", ")}`);
  for (const [limit, count] of [
    ["1", 1],
    ["100", 100],
    ["%31%30", 10],
  ] as const) {
    const page = (await service.call("GET", `/todos?limit=${limit}`)).expect<TodoPage>(200);
    expect(page.items).toHaveLength(count);
  }
});

const shared = shareService();

test("a limit outside 1 to 100 or not in plain digits returns a 422 that names the parameter", async () => {
  const limits = [
    ...["0", "101", "-1", "-0", "1000000", "9007199254740993", "9".repeat(400), "1e1", "0x10", "0b1", "0o7"],
    ...["5.0", "5.", ".5", "05", "%2B5", "+5", "%205", "5%20", "5%0A", "", "abc", "NaN", "Infinity", "null"],
    ...["true", "5,5", "1_0", "٥", "５", "%", "%zz", "%ff", "5%00", "%00", "5n", "5;6", "[5]", "{}"],
  ];
  for (const limit of limits) {
    const { status, body } = await shared().call("GET", `/todos?limit=${limit}`);
    expect([limit, status, body]).toMatchObject([limit, 422, { detail: [{ loc: ["query", "limit"] }] }]);
  }
});

test("a repeated limit returns 422, whatever its values", async () => {
  for (const query of ["limit=5&limit=5", "limit=5&limit=6", "limit=&limit=5", "limit=5&limit="]) {
    const { status, body } = await shared().call("GET", `/todos?${query}`);
    expect([query, status, body]).toMatchObject([query, 422, { detail: [{ loc: ["query", "limit"] }] }]);
  }
});

test("an invalid limit returns 422 also beside a malformed cursor, and other parameters are ignored", async () => {
  expect((await shared().call("GET", "/todos?limit=0&cursor=x&cursor=y")).status).toBe(422);
  expect(
    (await shared().call("GET", "/todos?offset=5&LIMIT=0&limit[]=0&__proto__=1&constructor=2")).status,
  ).toBe(200);
});
