/** Routes that change something read at most 128 KiB of a body; the others read nothing. */
import { expect, test } from "bun:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { BODY_MAX_CHUNKS } from "@latchkey/contracts";
import { shareService, startService } from "../support/service.ts";

const TOO_LARGE = { detail: "Payload Too Large", code: "PAYLOAD_TOO_LARGE" };
const LIMIT = 128 * 1024;

/** A valid todo of exactly this many bytes; the padding is an unknown member. */
function todoOf(bytes: number): string {
  const [head, tail] = ['{"title":"large","padding":"', '"}'];
  return head + "x".repeat(bytes - head.length - tail.length) + tail;
}

/** The same text, sent in chunks without an announced length. */
const chunked = (text: string) =>
  new ReadableStream<Uint8Array>({
    start(controller) {
      for (let index = 0; index < text.length; index += 10_000) {
        controller.enqueue(new TextEncoder().encode(text.slice(index, index + 10_000)));
      }
      controller.close();
    },
  });

const shared = shareService();

test.each([
  ["announced", todoOf],
  ["chunked", (bytes: number) => chunked(todoOf(bytes))],
] as const)(
  "a body (%s) of exactly the limit is read, and one byte more returns 413",
  async (_way, bodyOf) => {
    const post = (bytes: number) => shared().call("POST", "/todos", { body: bodyOf(bytes) });
    expect((await post(LIMIT)).status).toBe(201);
    const refused = await post(LIMIT + 1);
    expect(refused.status).toBe(413);
    expect(refused.body).toEqual(TOO_LARGE);
  },
);

/** Only the head of a request: a service that waits for the body never responds. */
const headOf = (method: string, path: string, ...headers: string[]) =>
  [`${method} ${path} HTTP/1.1`, "Host: x", "Connection: close", ...headers, "", ""].join("\r\n");

test.each(["/todos", "/auth/me", "/nowhere", "/healthz"])(
  "an announced length over the limit returns 413 on %s without waiting for the body",
  async (path) => {
    const response = await shared().raw(headOf("POST", path, `Content-Length: ${LIMIT + 1}`));
    expect(response).toStartWith("HTTP/1.1 413");
    expect(response).toEndWith(JSON.stringify(TOO_LARGE));
  },
);

test("a chunked body that never ends returns 413 as soon as it exceeds the limit", async () => {
  const head = headOf("POST", "/todos", "Transfer-Encoding: chunked", "Content-Type: application/json");
  const chunk = `${(64 * 1024).toString(16)}\r\n${" ".repeat(64 * 1024)}\r\n`;
  expect(await shared().raw(head + chunk.repeat(3))).toStartWith("HTTP/1.1 413");
});

test.each(["/todos/1", "/auth/me", "/auth/tokens"])(
  "a chunked body over the limit returns 413 on DELETE %s, which is not executed",
  async (path) => {
    await using service = await startService();
    await service.call("POST", "/todos", { body: { title: "kept" } });
    const { token } = await service.createUser();
    const body = chunked(" ".repeat(LIMIT + 1));
    expect((await service.call("DELETE", path, { body, token })).status).toBe(413);
    expect((await service.request("/todos/1")).status).toBe(200);
    expect((await service.call("GET", "/auth/me", { token })).status).toBe(200);
    expect((await service.call("DELETE", path, { body: chunked(" ".repeat(LIMIT)), token })).status).toBe(
      204,
    );
  },
);

test("a body in more than 512 chunks returns 413 however short they are, and one in 400 chunks is read", async () => {
  const head = headOf("POST", "/todos", "Transfer-Encoding: chunked", "Content-Type: application/json");
  const post = (text: string) =>
    shared().raw(`${head}${[...text].map((character) => `1\r\n${character}\r\n`).join("")}0\r\n\r\n`);
  expect(await post(todoOf(400))).toStartWith("HTTP/1.1 201");
  const refused = await post(todoOf(BODY_MAX_CHUNKS + 1));
  expect(refused).toStartWith("HTTP/1.1 413");
  expect(refused).toEndWith(JSON.stringify(TOO_LARGE));
});

test("an announced length over the server's own limit of 16 MiB also returns 413", async () => {
  const response = await shared().raw(headOf("POST", "/todos", `Content-Length: ${17 * 1024 * 1024}`));
  expect(response).toStartWith("HTTP/1.1 413");
});

test.each([
  ["gzip", gzipSync],
  ["br", brotliCompressSync],
] as const)("a body compressed with %s is never decompressed", async (coding, compress) => {
  for (const title of ["x", "x".repeat(8 * 1024 * 1024)]) {
    const body = new Uint8Array(compress(JSON.stringify({ title })));
    const headers = { "content-encoding": coding };
    const response = await shared().call("POST", "/todos", { body, headers });
    expect([response.status, response.body]).toMatchObject([422, { detail: [{ type: "content_encoding" }] }]);
  }
});

test.each([
  ["malformed JSON", "{", "application/json"],
  ["a malformed form", "xx", "multipart/form-data; boundary=x"],
  ["bytes of an unknown type", "\u0000\u0001", "application/octet-stream"],
])("a route without a body ignores %s", async (_name, body, type) => {
  const headers = { "content-type": type };
  for (const [method, path, status] of [
    ["DELETE", "/todos/404", 404],
    ["DELETE", "/auth/me", 401],
    ["PUT", "/todos", 405],
    ["POST", "/nowhere", 404],
  ] as const) {
    const response = await shared().call(method, path, { body, headers });
    expect([method, path, response.status]).toEqual([method, path, status]);
  }
});
