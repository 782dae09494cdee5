/** How much of a body is read, and of whose: 1 MiB for routes that take one, nothing for the others. */
import { describe, expect, test } from "bun:test";
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { startService } from "../support/service.ts";

const TOO_LARGE = { detail: "Payload Too Large" };
const MEBIBYTE = 1024 * 1024;

/** A valid todo of exactly so many bytes; the padding is a member that nobody knows. */
function todoOf(bytes: number): string {
  const [head, tail] = ['{"title":"large","padding":"', '"}'];
  return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

/** The same text, sent in chunks without an announced length. */
const chunked = (text: string) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let index = 0; index < text.length; index += 100_000) {
        controller.enqueue(new TextEncoder().encode(text.slice(index, index + 100_000)));
      }
      controller.close();
    },
  });

test("the limit is 1 MiB", () => expect(BODY_MAX_BYTES).toBe(MEBIBYTE));

test.each([
  ["announced", todoOf],
  ["chunked", (bytes: number) => chunked(todoOf(bytes))],
] as const)("a body (%s) of exactly the limit is read, one byte more is a 413", async (_way, bodyOf) => {
  await using service = await startService();
  const post = (bytes: number) => service.call("POST", "/todos", { body: bodyOf(bytes) });
  expect((await post(MEBIBYTE)).status).toBe(201);
  const refused = await post(MEBIBYTE + 1);
  expect(refused.status).toBe(413);
  expect(refused.body).toEqual(TOO_LARGE);
  expect((await service.request("/todos")).status).toBe(200);
});

/** Only the head of a request: whoever waits for the body, waits for ever. */
const headOf = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n");

test.each(["/todos", "/auth/login", "/auth/register", "/auth/me", "/nowhere", "/healthz"])(
  "an announced length over the limit is refused on %s without waiting for the body",
  async (path) => {
    await using service = await startService();
    const answer = await service.raw(headOf("POST", path, `Content-Length: ${MEBIBYTE + 1}`));
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toEndWith(JSON.stringify(TOO_LARGE));
  },
);

test("a chunked body that never ends is refused as soon as it is over the limit", async () => {
  await using service = await startService();
  const head = headOf("POST", "/todos", "Transfer-Encoding: chunked", "Content-Type: application/json");
  const chunk = `${(64 * 1024).toString(16)}\r\n${" ".repeat(64 * 1024)}\r\n`;
  expect(await service.raw(head + chunk.repeat(17))).toStartWith("HTTP/1.1 413");
});

test("a length announced beside chunks does not hide the chunks", async () => {
  await using service = await startService();
  const framing = ["Content-Length: 5", "Transfer-Encoding: chunked", "Content-Type: application/json"];
  const chunk = `${(64 * 1024).toString(16)}\r\n${" ".repeat(64 * 1024)}\r\n`;
  const answer = await service.raw(`${headOf("POST", "/todos", ...framing)}${chunk.repeat(17)}0\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1\.1 (400|413)/);
});

test.each(["-1", "1e9", "0x10", "5 5", "99999999999999999999"])(
  "the length %p is refused",
  async (length) => {
    await using service = await startService();
    const answer = await service.raw(headOf("POST", "/todos", `Content-Length: ${length}`));
    expect(answer).toMatch(/^HTTP\/1\.1 4(00|13)/);
    expect((await service.request("/healthz")).status).toBe(200);
  },
);

test("past the server's own limit it is still a 413", async () => {
  await using service = await startService();
  const answer = await service.raw(headOf("POST", "/todos", `Content-Length: ${17 * MEBIBYTE}`));
  expect(answer).toStartWith("HTTP/1.1 413");
});

describe("a route that takes no body ignores one, whatever it is", () => {
  const BODIES = {
    "malformed JSON": ["{", "application/json"],
    "a broken form": ["xx", "multipart/form-data; boundary=x"],
    "bad escapes": ["%=%E0%A4%A", "application/x-www-form-urlencoded"],
    "bytes of no type": ["\u0000\u0001", "application/octet-stream"],
  } as const;
  const ROUTES = [
    ["DELETE", "/todos/404", 404],
    ["DELETE", "/auth/me", 401],
    ["PUT", "/todos", 405],
    ["POST", "/healthz", 405],
    ["OPTIONS", "/todos", 405],
    ["POST", "/nowhere", 404],
    ["POST", "/docs", 405],
  ] as const;

  test.each(Object.entries(BODIES))("%s", async (_name, [body, type]) => {
    await using service = await startService();
    for (const [method, path, status] of ROUTES) {
      const answer = await service.call(method, path, { body, headers: { "content-type": type } });
      expect([method, path, answer.status]).toEqual([method, path, status]);
    }
    expect(service.log.filter(({ msg }) => msg === "request failed")).toEqual([]);
  });

  test("broken cookies are nobody's business", async () => {
    await using service = await startService();
    for (const cookie of ["a=%E0%A4%A", "%", "=;=;", "__proto__=x", "a".repeat(4_000)]) {
      expect((await service.call("GET", "/todos", { headers: { cookie } })).status).toBe(200);
      const login = { body: { email: "a@b.cd", password: "x" }, headers: { cookie } };
      expect((await service.call("POST", "/auth/login", login)).status).toBe(401);
    }
  });
});
