/** Bodies without a server: what is read, how much of it, and what is discarded. */
import { expect, test } from "bun:test";
import { BODY_MAX_BYTES, BODY_MAX_CHUNKS, LoginRequest, RegisterRequest } from "@latchkey/contracts";
import { ServiceError } from "../../src/errors.ts";
import { drainChunkedBody, ignoreBody, jsonBody } from "../../src/http/body.ts";

const HEADERS = { "content-type": "application/json" };

const requestWith = (
  body: string | Uint8Array<ArrayBuffer> | ReadableStream,
  headers: Record<string, string> = HEADERS,
) => ({
  request: new Request("http://localhost/", { method: "POST", body, headers }),
});

/** A body in chunks. `sent` is the number of chunks that were read. */
function chunked(count: number, bytes: number) {
  const chunks = { sent: 0 };
  const body = new ReadableStream({
    pull(controller) {
      if (chunks.sent === count) return controller.close();
      chunks.sent += 1;
      controller.enqueue(new Uint8Array(bytes).fill(0x20));
    },
  });
  return { ...requestWith(body, { ...HEADERS, "transfer-encoding": "chunked" }), chunks };
}

/** The type of the only issue, or the code of another error. */
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => "accepted",
    (error) => {
      if (!(error instanceof ServiceError)) throw error;
      return error.properties.issues?.[0]?.type ?? error.code;
    },
  );

test("a body has only the members that its schema declares, and a normalized e-mail", async () => {
  const read = jsonBody(LoginRequest);
  const sent = { email: " Ada@Example.com ", password: " kept ", admin: true };
  expect(await read(requestWith(JSON.stringify(sent)))).toEqual({
    email: "ada@example.com",
    password: " kept ",
  });
});

test("only a new e-mail is converted to ASCII", async () => {
  const body = JSON.stringify({ email: "ada@bücher.example" });
  expect(await jsonBody(RegisterRequest)(requestWith(body))).toEqual({ email: "ada@xn--bcher-kva.example" });
  expect(await jsonBody(LoginRequest)(requestWith(body))).toEqual({ email: "ada@bücher.example" });
});

test.each([
  ["no body", "", HEADERS, "json_invalid"],
  ["malformed JSON", "{", HEADERS, "json_invalid"],
  ["a byte that is not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), HEADERS, "json_invalid"],
  ["another content type", "{}", { "content-type": "text/plain" }, "content_type"],
  ["a suffix +json", "{}", { "content-type": "application/vnd.api+json; charset=utf-8" }, "accepted"],
  ["a compressed body", "{}", { ...HEADERS, "content-encoding": "gzip" }, "content_encoding"],
] as const)("%s is reported as the type of its issue", async (_case, body, headers, reason) => {
  expect(await reasonOf(jsonBody(LoginRequest)(requestWith(body, headers)))).toBe(reason);
});

test.each([
  ["of too many bytes", 2, BODY_MAX_BYTES],
  ["of too many chunks", BODY_MAX_CHUNKS + 10, 1],
])("a chunked body %s is rejected, whether or not it is needed", async (_case, count, bytes) => {
  for (const read of [jsonBody(LoginRequest), ignoreBody])
    expect(await reasonOf(read(chunked(count, bytes)))).toBe("PAYLOAD_TOO_LARGE");
});

test("the rest of a chunked body is discarded, but not if its chunks are small", async () => {
  const large = chunked(2 * BODY_MAX_CHUNKS, 4096);
  await drainChunkedBody(large.request);
  expect(large.chunks.sent).toBe(2 * BODY_MAX_CHUNKS);
  const small = chunked(4 * BODY_MAX_CHUNKS, 1);
  await drainChunkedBody(small.request);
  expect(small.chunks.sent).toBeWithin(BODY_MAX_CHUNKS, 2 * BODY_MAX_CHUNKS);
});

test("a body that is already read, and one with a length, are not drained", async () => {
  const { request } = chunked(1, 10);
  await request.text();
  await drainChunkedBody(request);
  const sized = requestWith("{}").request;
  await drainChunkedBody(sized);
  expect(await sized.text()).toBe("{}");
});
