/** The request id: the client's if it is well-formed, otherwise a new one; in the response and in every log line. */
import { expect, test } from "bun:test";
import { shareService, startService } from "../support/service.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const shared = shareService();

test("a well-formed inbound id is kept; any other, and two of them, are replaced by a new UUIDv7", async () => {
  const idFor = async (id: string) =>
    (await shared().request("/todos", { headers: { "x-request-id": id } })).headers.get("x-request-id");
  for (const id of ["a", "A-z_0.9", "-", "..", "x".repeat(128), "01890a5d-ac96-774b-bcce-b302099a8057"])
    expect(await idFor(id)).toBe(id);
  for (const id of ["", " ", "a b", "x".repeat(129), "a,b", "a/b", "a;b", "<script>", "a%0d%0ab", "ä", "a:b"])
    expect([id, await idFor(id)]).toEqual([id, expect.stringMatching(UUID_V7)]);
  const lines = ["GET /todos HTTP/1.1", "Host: x", "X-Request-ID: a", "X-Request-ID: b", "Connection: close"];
  const response = await shared().raw(`${lines.join("\r\n")}\r\n\r\n`);
  expect(/^x-request-id: (.*)\r$/im.exec(response)?.[1]).toMatch(UUID_V7);
});

test("every log line of a request contains its id and whether the client sent it", async () => {
  await using service = await startService({
    wrapDatabase: (database) => ({
      ...database,
      todos: { ...database.todos, list: () => Promise.reject(new TypeError("a bug")) },
    }),
  });
  await service.request("/todos", { headers: { "x-request-id": "chosen" } });
  const generated = (await service.request("/todos")).headers.get("x-request-id");
  await service.request("/healthz");
  const linesOf = (id: string | null) => service.log.filter(({ request_id }) => request_id === id);
  const failed = { status: 500, err: { message: "a bug" } };
  expect(linesOf("chosen")).toMatchObject([{ ...failed, request_id_inbound: true }]);
  expect(linesOf(generated)).toMatchObject([{ ...failed, request_id_inbound: false }]);
});

test("a log line contains the trace id of a well-formed traceparent, also with members of later versions, and of no other", async () => {
  await using service = await startService();
  const [trace, parent] = ["0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"];
  const wellFormed = [`00-${trace}-${parent}-01`, `cc-${trace}-${parent}-00`, `cc-${trace}-${parent}-00-x.y`];
  const malformed = [
    ...["", trace, `00-${trace}-${parent}`, `00-${trace}-${parent}-01-x`, `00-${trace}-${parent}-01-`],
    ...[`ff-${trace}-${parent}-01`, `cc-${trace}-${parent}-01x`, `00-${trace.toUpperCase()}-${parent}-01`],
    ...[`00-${"0".repeat(32)}-${parent}-01`, `00-${trace}-${"0".repeat(16)}-01`, `00-${trace}x-${parent}-01`],
    `00-${trace}-${parent}-01, 00-${trace}-${parent}-01`,
  ];
  for (const traceparent of [...wellFormed, ...malformed])
    await service.request("/todos", { headers: { traceparent } });
  await service.request("/healthz");
  const ids = service.log.filter(({ method }) => method === "GET").map(({ trace_id }) => trace_id);
  expect(ids.slice(0, 15)).toEqual([...wellFormed.map(() => trace), ...malformed.map(() => undefined)]);
});
