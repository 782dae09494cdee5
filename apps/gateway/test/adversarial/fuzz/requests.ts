/** Hostile requests: every route in many forms, with valid framing, and damage to some of them. */
import fc from "fast-check";
import { body, ECHO, SECRET, secretText, text } from "./values.ts";

/** `valid` stands for a token that the running service issues. */
export type Authorization = { readonly kind: "valid" } | { readonly kind: "raw"; readonly value: string };

export interface HostileRequest {
  readonly method: string;
  /** As sent; contains no byte that ends the request line. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly authorization: Authorization | null;
  readonly body: Uint8Array | null;
  readonly isChunked: boolean;
}

/** Changes to a request's bytes; positions are fractions of their length. */
export interface Damage {
  readonly edits: readonly { readonly at: number; readonly drop: number; readonly insert: string }[];
  readonly keep: number;
}

export interface Step {
  readonly request: HostileRequest;
  readonly damage: Damage | null;
}

const ROUTES = [
  ...["/auth/register", "/auth/login", "/auth/me", "/todos", "/todos/1", "/healthz", "/readyz"],
  ...["/openapi.json", "/docs", "/redoc", "/", "/nowhere", "/docs/assets/x.js"],
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"];

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

const segment = fc.oneof(
  text().map(visible),
  text().map((value) => visible(encodeURIComponent(value.toWellFormed()))),
  fc.constantFrom("..", ".", "%2e%2e", "%2f", "..;", "\\", "", "%", "%zz", "%ff", "1", "9007199254740991"),
);
/** Existing operations, because their handlers process the body. */
const operation = fc.oneof(
  ...["POST /auth/register", "POST /auth/login", "GET /auth/me", "PATCH /auth/me", "DELETE /auth/me"].map(
    fc.constant,
  ),
  ...["GET /todos", "POST /todos", "GET /todos/", "PATCH /todos/", "DELETE /todos/"].map((route) =>
    fc.nat(50).map((id) => (route.endsWith("/") ? route + id : route)),
  ),
);
const path = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ROUTES) },
  { weight: 1, arbitrary: fc.constantFrom(...ROUTES).map((route) => `${route}/`) },
  { weight: 3, arbitrary: segment.map((id) => `/todos/${id}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...ROUTES), fc.array(segment, { maxLength: 4 }))
      .map(([route, segments]) => [route, ...segments].join("/")),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(segment, { maxLength: 3 }), fc.constantFrom(...ROUTES))
      .map(([segments, route]) => `/${segments.join("/")}/..${route}`),
  },
  { weight: 1, arbitrary: fc.constantFrom(...ROUTES).map((route) => `http://evil.example:99${route}`) },
);
const query = fc.oneof(
  { weight: 4, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc
      .array(
        fc.tuple(
          fc.constantFrom("limit", "cursor", "__proto__", "access_token", "%", ECHO),
          fc.oneof(text(), secretText(), fc.nat(120).map(String)).map(visible),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((pairs) => `?${pairs.map(([name, value]) => `${name}=${value}`).join("&")}`),
  },
);

const value = fc.oneof(text(), secretText()).map(fieldValue);
const header = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      ...["X-Request-ID", "X-Forwarded-For", "Origin", "Cookie", "If-None-Match", "Range", "Accept"],
      ...["Accept-Encoding", "Content-Encoding", "Referer", "User-Agent", "X-HTTP-Method-Override"],
      ...["Access-Control-Request-Method", "Access-Control-Request-Headers", "Forwarded", "X-Original-URL"],
    ),
    value,
  ),
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
const contentType = fc.oneof(
  { weight: 12, arbitrary: fc.constant("application/json") },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        "application/json; charset=utf-16",
        "APPLICATION/JSON",
        "application/problem+json",
        "text/plain",
        "",
      ],
      ...["multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "application/jsonx", "*/*"],
    ),
  },
  { weight: 1, arbitrary: value },
);
const authorization = fc.option(
  fc.oneof(
    { weight: 3, arbitrary: fc.constant<Authorization>({ kind: "valid" }) },
    {
      weight: 1,
      arbitrary: value.map((raw): Authorization => ({ kind: "raw", value: `Bearer ${SECRET}${raw}` })),
    },
    { weight: 1, arbitrary: value.map((raw): Authorization => ({ kind: "raw", value: raw })) },
  ),
);

const aim = fc.oneof(
  { weight: 2, arbitrary: operation.map((route) => route.split(" ")) },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...METHODS), path) },
);

const request: fc.Arbitrary<HostileRequest> = fc
  .record({
    aim,
    query,
    headers: fc.array(header, { maxLength: 4 }),
    contentType: fc.option(contentType, { freq: 12 }),
    authorization,
    body: fc.option(body()),
    isChunked: fc.boolean(),
  })
  .map(({ aim: [method = "", route = ""], query: search, contentType: type, headers, ...others }) => ({
    ...others,
    method,
    target: route + search,
    headers: type === null ? headers : [...headers, ["Content-Type", type] as const],
  }));

const fraction = fc.double({ min: 0, max: 1, noNaN: true });
const damage: fc.Arbitrary<Damage> = fc.record({
  edits: fc.array(
    fc.record({
      at: fraction,
      drop: fc.nat(3),
      insert: fc.oneof(
        fc.constantFrom(
          "\r\n",
          "\n",
          "\r",
          "\0",
          " ",
          "\t",
          "\r\n\r\n",
          "0\r\n\r\n",
          "\r\n Folded: 1",
          "\xff",
        ),
        fc.constantFrom("\r\nContent-Length: 5", "\r\nTransfer-Encoding: chunked", "HTTP/1.1", "-", "%"),
        fc.string({ unit: "binary-ascii", maxLength: 6 }),
      ),
    }),
    { maxLength: 3 },
  ),
  keep: fc.oneof(fc.constant(1), fraction),
});

/** One request in eight is damaged. */
export const step: fc.Arbitrary<Step> = fc.record({
  request,
  damage: fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: damage }),
});
