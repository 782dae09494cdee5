/** Malformed HTTP, and framing that servers interpret differently, are refused and never processed in part. */
import { afterEach, describe, expect, test } from "bun:test";
import { shareService } from "../support/service.ts";
import { openWire } from "../support/wire.ts";

const TITLE = '{"title":"x"}';
/** Must not be processed as a separate request; its route would be in the log. */
const SMUGGLED = "GET /auth/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
const post = (...framing: string[]) =>
  ["POST /todos HTTP/1.1", "Host: x", "Content-Type: application/json", ...framing, "", ""].join("\r\n");
const get = (...lines: string[]) =>
  ["GET /todos HTTP/1.1", "Host: x", "Connection: close", ...lines, "", ""].join("\r\n");

const REFUSED: Readonly<Record<string, string>> = {
  "a TLS handshake": "\x16\x03\x01\x00\xa5\x01\x00\x00\xa1\x03\x03\r\n\r\n",
  "HTTP/0.9": "GET /todos\r\n\r\n",
  "HTTP/1.2": "GET /todos HTTP/1.2\r\nHost: x\r\n\r\n",
  "the preface of HTTP/2": "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
  "lines that end in LF only": "GET /todos HTTP/1.1\nHost: x\n\n",
  "a space in the target": "GET /todos x HTTP/1.1\r\nHost: x\r\n\r\n",
  "NUL in the target": "GET /todos\0 HTTP/1.1\r\nHost: x\r\n\r\n",
  "a target without a slash": "GET todos HTTP/1.1\r\nHost: x\r\n\r\n",
  "no Host": "GET /todos HTTP/1.1\r\nConnection: close\r\n\r\n",
  "a header without a colon": get("Nonsense"),
  "a header without a name": get(": x"),
  "a space before the colon": get("Name : x"),
  "a folded header": get("Name: x", " y"),
  "NUL in a header": get("Name: x\0y"),
  "CR without LF in a header": get("Name: x\ry"),
  "LF without CR in a header": get("Name: x\ny: z"),
  "a header of 100 KB": get(`Name: ${"x".repeat(100_000)}`),
  "a target of 100 KB": `GET /${"x".repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
  "Content-Length before chunks": `${post("Content-Length: 6", "Transfer-Encoding: chunked")}0\r\n\r\n`,
  "chunks before Content-Length": `${post("Transfer-Encoding: chunked", "Content-Length: 6")}0\r\n\r\n`,
  "two lengths, the second shorter": post("Content-Length: 70", "Content-Length: 0"),
  "two lengths, the first shorter": post("Content-Length: 0", "Content-Length: 70"),
  "two lengths in one header": post("Content-Length: 0, 70"),
  "a length with a sign": post("Content-Length: +0"),
  "a negative length": post("Content-Length: -1"),
  "a length in hexadecimal": post("Content-Length: 0x0"),
  "a space before the colon of the length": post("Content-Length : 0"),
  "a space before the colon of the encoding": `${post("Transfer-Encoding : chunked")}0\r\n\r\n`,
  "an unknown encoding": `${post("Transfer-Encoding: xchunked")}0\r\n\r\n`,
  "the encoding identity": `${post("Transfer-Encoding: identity")}0\r\n\r\n`,
  "gzip before chunked": `${post("Transfer-Encoding: gzip, chunked")}0\r\n\r\n`,
  "chunked twice": `${post("Transfer-Encoding: chunked, chunked")}0\r\n\r\n`,
  "identity after chunked": `${post("Transfer-Encoding: chunked", "Transfer-Encoding: identity")}0\r\n\r\n`,
  "a quoted encoding": `${post('Transfer-Encoding: "chunked"')}0\r\n\r\n`,
  "chunks in HTTP/1.0": `${post("Transfer-Encoding: chunked").replace("1.1", "1.0")}0\r\n\r\n`,
  "a length after LF without CR": post("Name: x\nContent-Length: 70"),
  "a negative chunk": `${post("Transfer-Encoding: chunked")}-1\r\n\r\n`,
  "a chunk longer than 64 bits": `${post("Transfer-Encoding: chunked")}10000000000000000\r\n\r\n`,
  "a chunk length with a prefix": `${post("Transfer-Encoding: chunked")}0x0\r\n\r\n`,
  "a chunk length with a space": `${post("Transfer-Encoding: chunked")}0 0\r\n\r\n`,
  "a chunk that ends in LF only": `${post("Transfer-Encoding: chunked")}0\n\n`,
  "LF in a chunk's extension": `${post("Transfer-Encoding: chunked")}0;\nx\r\n\r\n`,
  "a chunk shorter than its bytes": `${post("Transfer-Encoding: chunked")}5\r\n${TITLE}\r\n0\r\n\r\n`,
  "a chunk longer than its bytes": `${post("Transfer-Encoding: chunked")}f\r\n${TITLE}\r\n0\r\n\r\n`,
};

const shared = shareService();

describe("malformed HTTP and ambiguous framing", () => {
  const refusing = shareService();
  /** No request of these tests may reach a route, except one whose body ends early. */
  afterEach(async () => {
    // The line of a request is written at the latest by the end of another one.
    await refusing().request("/healthz");
    const lines = refusing().log.filter(({ route, status }) => route !== "/healthz" && status !== 499);
    expect(lines).toEqual([]);
  });

  test.each(Object.entries(REFUSED))(
    "%s is refused with a bare status and reaches no route",
    async (_name, bytes) => {
      expect(await refusing().raw(bytes + SMUGGLED)).toMatch(
        /^HTTP\/1\.1 (400|431|505) [\w ]+\r\nConnection: close\r\n\r\n$/,
      );
    },
  );

  test("an unknown method is refused and reaches no route", async () => {
    for (const method of ["get", "FOO", "\0", "G".repeat(5_000)]) {
      const response = await refusing().raw(`${method} /todos HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(response).toMatch(/^(HTTP\/1\.1 4\d\d |$)/);
    }
  });
});

test.each([
  ["of a route that reads it", post(`Content-Length: ${SMUGGLED.length}`), 422],
  ["of a route that does not", get(`Content-Length: ${SMUGGLED.length}`), 200],
  ["of an unsupported method", post(`Content-Length: ${SMUGGLED.length}`).replace("POST", "PUT"), 405],
  ["that exceeds the limit", post("Content-Length: 2000000"), 413],
])("a request within the body %s is not processed", async (_name, head, status) => {
  const service = shared();
  using wire = await openWire(service);
  wire.send(head + SMUGGLED);
  expect(await wire.readResponse("POST")).toMatchObject({ status });
  wire.send("", "last");
  expect(await wire.readResponse("GET")).toBeNull();
  expect(service.log.map(({ route }) => route)).not.toContain("/auth/me");
});

/** The status and the request id of each response, to requests with these methods. */
async function responsesTo(bytes: string, methods: readonly string[]): Promise<string[]> {
  using wire = await openWire(shared());
  wire.send(bytes);
  const responses: string[] = [];
  for (const method of methods) {
    const response = await wire.readResponse(method);
    const id = new Map(response?.headers).get("x-request-id");
    if (response) responses.push(`${response.status} ${id}`);
  }
  expect(await wire.readRest()).toBe("");
  return responses;
}

test("pipelined requests get responses one by one, in order, each with its own body, up to a chunked one", async () => {
  const bytes = [
    post("X-Request-ID: a", `Content-Length: ${TITLE.length}`) + TITLE,
    "HEAD /healthz HTTP/1.1\r\nHost: x\r\nX-Request-ID: b\r\n\r\n",
    `${post("X-Request-ID: c", "Content-Length: 3").replace("POST", "PUT")}abc`,
    `${post("X-Request-ID: d", "Transfer-Encoding: chunked")}c;x=y\r\n{"title":""}\r\n0\r\n\r\n`,
    get("X-Request-ID: e"),
  ].join("");
  const responses = await responsesTo(bytes, ["POST", "HEAD", "PUT", "POST"]);
  expect(responses).toEqual(["201 a", "200 b", "405 c", "422 d"]);
});

// Bun closes a connection on which a request follows one that is in progress (RFC 9112, section 9.3.2: clients retry).
test("requests pipelined behind one in progress get their own responses in order, or none", async () => {
  const ids = ["a", "b", "c", "d"];
  const bytes = ids.map((id) => post(`X-Request-ID: ${id}`, `Content-Length: ${TITLE.length}`) + TITLE);
  const responses = await responsesTo(bytes.join(""), Array(ids.length).fill("POST"));
  expect(responses).toEqual(ids.map((id) => `201 ${id}`).slice(0, responses.length));
});
