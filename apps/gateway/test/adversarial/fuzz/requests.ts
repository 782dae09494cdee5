/** Hostile requests: every route in many forms, with valid framing, and damage to the bytes of some of them. */
import fc from "fast-check";
import { chunked } from "../../support/wire.ts";
import { body, ECHO, SECRET, secretText, text, weighted } from "./values.ts";

/** In a header, stands for a token that the running service issues. */
const TOKEN = "<token>";

export interface HostileRequest {
  readonly method: string;
  /** As sent; contains no byte that ends the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Uint8Array | null;
  readonly isChunked: boolean;
  /** At a fraction of the remaining bytes, some are dropped and others inserted. */
  readonly damage: readonly { readonly at: number; readonly drop: number; readonly insert: string }[];
}

const ROUTES = [
  ...["/auth/register", "/auth/login", "/auth/me", "/auth/password-reset", "/auth/password-reset/confirm"],
  ...["/todos", "/todos/1", "/healthz", "/readyz", "/openapi.json", "/docs", "/", "/docs/assets/x.js"],
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"];
const HEADERS = [
  ...["X-Request-ID", "X-Forwarded-For", "Origin", "Cookie", "If-None-Match", "Range", "Accept", "Referer"],
  ...["Accept-Encoding", "Content-Encoding", "X-HTTP-Method-Override", "Access-Control-Request-Method"],
  ...["Access-Control-Request-Headers", "X-Original-URL"],
];
const CONTENT_TYPES = [
  ...["application/json; charset=utf-16", "APPLICATION/JSON", "application/problem+json", "text/plain", ""],
  ...["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/jsonx", "*/*"],
];

const isControl = (character: string): boolean => character < " " || character === "\x7f";
const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`;
/** As UTF-8 bytes, one character each. */
const utf8 = (value: string): string[] => [...Buffer.from(value).toString("latin1")];

/** Without characters that end a target or a line. */
const visible = (value: string): string =>
  utf8(value)
    .map((character) => (isControl(character) || character === " " ? percent(character) : character))
    .join("");
const fieldValue = (value: string): string =>
  utf8(value)
    .filter((character) => !isControl(character))
    .join("");

const route = fc.constantFrom(...ROUTES);
const segment = fc.oneof(
  text.map(visible),
  text.map((value) => visible(encodeURIComponent(value.toWellFormed()))),
  fc.constantFrom("..", ".", "%2e%2e", "%2f", "..;", "\\", "", "%", "%zz", "%ff", "1", "9007199254740991"),
);
const path = weighted(
  [3, route],
  [3, segment.map((id) => `/todos/${id}`)],
  [3, fc.tuple(route, fc.array(segment, { maxLength: 4 })).map((parts) => parts.flat().join("/"))],
  [2, fc.tuple(segment, segment, route).map(([first, second, end]) => `/${first}/${second}/..${end}`)],
  [1, route.map((end) => `http://evil.example:99${end}`)],
);
/** Existing operations, because their handlers process the body. */
const operation = fc.oneof(
  fc.constantFrom(
    ...["POST /auth/register", "POST /auth/login", "GET /auth/me", "PATCH /auth/me", "DELETE /auth/me"],
    ...["POST /auth/password-reset", "POST /auth/password-reset/confirm", "GET /todos", "POST /todos"],
  ),
  fc
    .tuple(fc.constantFrom("GET", "PATCH", "DELETE"), fc.nat(50))
    .map(([method, id]) => `${method} /todos/${id}`),
);
const aim = weighted<readonly string[]>(
  [2, operation.map((one) => one.split(" "))],
  [1, fc.tuple(fc.constantFrom(...METHODS), path)],
);

const parameter = fc.tuple(
  fc.constantFrom("limit", "cursor", "__proto__", "access_token", "%", ECHO),
  fc.oneof(text, secretText, fc.nat(120).map(String)).map(visible),
);
const query = weighted(
  [2, fc.constant("")],
  [
    1,
    fc
      .array(parameter, { minLength: 1, maxLength: 4 })
      .map((pairs) => `?${pairs.map((pair) => pair.join("=")).join("&")}`),
  ],
);

const value = fc.oneof(text, secretText).map(fieldValue);
const header = fc.oneof(
  fc.tuple(fc.constantFrom(...HEADERS), value),
  fc.tuple(fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}x$/), value),
  fc.constantFrom(
    ["Origin", "https://evil.example"] as const,
    ["Content-Encoding", "gzip"] as const,
    ["Expect", "100-continue"] as const,
    ["X-Forwarded-For", "1.2.3.4, ::1, [::1]:80, %, ,"] as const,
    ["Accept-Encoding", "br;q=NaN, gzip;q=-1, *;q=1e9"] as const,
    ["If-None-Match", '*, W/"x", "'] as const,
    ["Access-Control-Request-Method", "POST"] as const,
  ),
);
const contentType = weighted(
  [12, fc.constant("application/json")],
  [1, fc.constantFrom(...CONTENT_TYPES)],
  [1, value],
);
const authorization = weighted(
  [3, fc.constant(`Bearer ${TOKEN}`)],
  [1, value.map((raw) => `Bearer ${SECRET}${raw}`)],
  [1, value],
);
/** A list, which can be empty. */
const maybe = (name: string, content: fc.Arbitrary<string>, freq: number) =>
  fc.option(content, { freq }).map((given) => (given === null ? [] : [[name, given] as const]));

const edit = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  drop: fc.oneof(fc.nat(3), fc.constant(Number.MAX_SAFE_INTEGER)),
  insert: fc.oneof(
    fc.string({ unit: fc.constantFrom("\r\n", "\n", "\r", "\0", " ", "\t", "0", "\xff"), maxLength: 3 }),
    fc.constantFrom(
      "\r\n Folded: 1",
      "\r\nContent-Length: 5",
      "\r\nTransfer-Encoding: chunked",
      "HTTP/1.1",
      "-",
      "%",
    ),
    fc.string({ unit: "binary-ascii", maxLength: 6 }),
  ),
});

/** One request in eight is damaged. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc
  .record({
    aim,
    query,
    headers: fc
      .tuple(
        fc.array(header, { maxLength: 4 }),
        maybe("Content-Type", contentType, 12),
        maybe("Authorization", authorization, 5),
      )
      .map((lists) => lists.flat()),
    body: fc.option(body),
    isChunked: fc.boolean(),
    damage: weighted<HostileRequest["damage"]>(
      [7, fc.constant([])],
      [1, fc.array(edit, { minLength: 1, maxLength: 3 })],
    ),
  })
  .map(({ aim: [method = "", start = ""], query: search, ...others }) => ({
    ...others,
    method,
    target: start + search,
  }));

export function encodeRequest(hostile: HostileRequest, token: string): Buffer {
  const { method, target, headers, body: bytes, isChunked, damage } = hostile;
  const framing = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes?.byteLength}`;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: fuzz.example",
    ...headers.map(([name, content]) => `${name}: ${content.replace(TOKEN, token)}`),
    ...(bytes === null ? [] : [framing]),
  ];
  const parts: Uint8Array[] = [Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1")];
  if (bytes !== null) parts.push(isChunked ? chunked(bytes, Math.ceil(bytes.byteLength / 2)) : bytes);
  return damage.reduce<Buffer>((whole, { at, drop, insert }) => {
    const place = Math.floor(whole.byteLength * at);
    const [before, after] = [whole.subarray(0, place), whole.subarray(place + drop)];
    return Buffer.concat([before, Buffer.from(insert, "latin1"), after]);
  }, Buffer.concat(parts));
}
