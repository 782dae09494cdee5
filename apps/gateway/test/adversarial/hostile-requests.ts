/** The most expensive single requests that are known, as bytes: each fills what the service reads of a head or a body. */
import { BODY_MAX_BYTES } from "@latchkey/contracts";
import { chunked } from "../support/wire.ts";

export interface HostileRequest {
  readonly name: string;
  readonly method: string;
  readonly bytes: Buffer;
}

interface HostileOptions {
  /** Of a user that exists. */
  readonly token: string;
  /** The path of the largest response. */
  readonly largestAsset: string;
}

/** The server refuses a head of more than 16 KiB. */
const HEAD_BYTES = 15_500;

const fill = (text: string, bytes: number): string =>
  text.repeat(Math.floor(bytes / Buffer.byteLength(text)));

/** As many numbered texts as fit into `bytes`. */
function series(bytes: number, make: (index: number) => string): string {
  const parts: string[] = [];
  for (let size = 0; size < bytes; size += Buffer.byteLength(parts.at(-1) ?? ""))
    parts.push(make(parts.length));
  return parts.slice(0, -1).join("");
}

const base36 = (index: number): string => index.toString(36).padStart(4, "0");
/**
 * Names that all have the same hash in the engine's objects and in its table of strings: rapidhash multiplies two halves
 * of a short text, and the fixed characters make one of the factors zero.
 */
export const collidingName = (index: number): string =>
  `\u0093K\u00b8\u008b${base36(index)}\u00c9\u00ac.\u0096`;

interface Parts {
  readonly headers?: readonly string[];
  readonly body?: string;
  /** Sends the body in chunks of this length. */
  readonly chunkBytes?: number;
}

function request(name: string, operation: string, { headers = [], body, chunkBytes }: Parts): HostileRequest {
  const [method = ""] = operation.split(" ");
  const bytes = Buffer.from(body ?? "");
  const framing = chunkBytes ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.byteLength}`;
  const head = [
    `${operation} HTTP/1.1`,
    "Host: hostile.example",
    ...headers,
    ...(body === undefined ? [] : ["Content-Type: application/json", framing]),
    "\r\n",
  ].join("\r\n");
  return {
    name,
    method,
    bytes: Buffer.concat([Buffer.from(head, "latin1"), chunkBytes ? chunked(bytes, chunkBytes) : bytes]),
  };
}

const ROOM = BODY_MAX_BYTES - 100;
const email = (text: string): string => `{"email":"${text}","password":"x"}`;
const title = (value: string): string => `{"title":${value}}`;
const object = (members: string): string => `{${members}"title":""}`;

/** Bodies by what they contain. */
const BODIES: Readonly<Record<string, string>> = {
  "128 KiB e-mail of labels": email(`a@${fill("a.", ROOM)}a`),
  "128 KiB e-mail of @": email(fill("@", ROOM)),
  "128 KiB e-mail of capital letters that grow": email(`${fill("İ", ROOM)}@b.c`),
  "128 KiB password with U+0000 at its end": `{"email":"nobody@example.org","password":"${fill("x", ROOM)}\\u0000"}`,
  "128 KiB of \\u0041": title(`"${fill("\\u0041", ROOM)}"`),
  "128 KiB of digits": title(fill("9", ROOM)),
  "128 KiB of numbers": title(`[${fill("1,", ROOM)}1]`),
  "128 KiB of empty arrays": title(`[${fill("[],", ROOM)}1]`),
  "128 KiB of objects with one member": title(`[${series(ROOM, (index) => `{"${base36(index)}":0},`)}1]`),
  "128 KiB of objects 60 levels deep": title(`[${fill(`${'{"a":'.repeat(60)}1${"}".repeat(60)},`, ROOM)}1]`),
  "128 KiB of [": fill("[", ROOM),
  "128 KiB of spaces": `${fill(" ", ROOM)}{}`,
  "an unknown name of 128 KiB of escapes": object(`"${fill("\\u0041", ROOM)}":0,`),
  "thousands of unknown members": object(series(ROOM, (index) => `"${base36(index)}":0,`)),
  "thousands of members with one hash": object(series(ROOM, (index) => `"${collidingName(index)}":0,`)),
  "objects with hundreds of members of one hash": title(
    `[${series(ROOM, (index) => `{${series(5_000, (name) => `"${collidingName(255 * index + name)}":0,`)}"":0},`)}1]`,
  ),
  "thousands of texts with one hash": title(`[${series(ROOM, (index) => `"${collidingName(index)}",`)}1]`),
  "128 KiB of invalid UTF-8 at its end": title(`"${fill("é", ROOM)}`),
};

export function createHostileRequests({ token, largestAsset }: HostileOptions): HostileRequest[] {
  const get = (name: string, target: string, ...headers: string[]) =>
    request(name, `GET ${target}`, { headers });
  const header = (name: string, text: string) => `${name}: ${fill(text, HEAD_BYTES)}`;
  const base64url = (text: string) => Buffer.from(text).toString("base64url");
  const jsonOfOneHash = `{${series(HEAD_BYTES * 0.7, (index) => `"${collidingName(index)}":0,`)}"id":1}`;
  const [, claims = "", signature = ""] = token.split(".");

  return [
    get("an ordinary request, for comparison", "/todos"),
    ...Object.entries(BODIES).flatMap(([name, body]) => {
      const operation = body.startsWith('{"email"') ? "POST /auth/login" : "PATCH /todos/1";
      return request(name, operation, { body });
    }),
    request("three texts of 40 KiB, registered", "POST /auth/register", {
      body: `{"email":"${fill("🦊", 40_000)}@b.c","username":"${fill("🦊", 40_000)}","password":"${fill("🦊", 40_000)}"}`,
    }),
    request("128 KiB in chunks of one byte, not read", "GET /auth/me", {
      headers: [`Authorization: Bearer ${token}`],
      body: fill("x", ROOM),
      chunkBytes: 1,
    }),
    request("128 KiB in hundreds of chunks", "PATCH /todos/1", {
      body: title(`"${fill("x", ROOM)}"`),
      chunkBytes: 300,
    }),
    get(
      "thousands of query parameters with names",
      `/todos?${series(HEAD_BYTES, (index) => `${base36(index)}=&`)}`,
    ),
    get(
      "query parameters of one hash",
      `/todos?${series(HEAD_BYTES, (index) => `${encodeURIComponent(collidingName(index))}&`)}`,
    ),
    get("thousands of cursors", `/todos?${fill("cursor=x&", HEAD_BYTES)}`),
    get("a cursor of members with one hash", `/todos?cursor=${base64url(jsonOfOneHash)}`),
    get("a limit of 15,000 digits", `/todos?limit=${fill("9", HEAD_BYTES)}`),
    get("an id of 15 KB of escapes", `/todos/${fill("%31", HEAD_BYTES)}`),
    get("a path of 15 KB of dot segments", fill("/..", HEAD_BYTES)),
    request("a preflight of 15 KB", `OPTIONS ${fill("/..", HEAD_BYTES / 2)}`, {
      headers: [
        "Origin: https://a.example",
        "Access-Control-Request-Method: POST",
        `Access-Control-Request-Headers: ${fill("x,", HEAD_BYTES / 2)}`,
      ],
    }),
    get("a page of 100 todos", "/todos?limit=100"),
    get("thousands of X-Forwarded-For entries", "/todos", header("X-Forwarded-For", "1.2.3.4,")),
    get("an X-Request-ID of 15 KB", "/todos", header("X-Request-ID", "x")),
    get("an Origin of 15 KB", "/todos", header("Origin", "https://a.")),
    get("cookies of 15 KB", "/auth/me", header("Cookie", "a=%41; ")),
    get("thousands of accepted codings that are known", "/openapi.json", header("Accept-Encoding", "br,")),
    get("thousands of entity tags", "/openapi.json", header("If-None-Match", '"x",')),
    get("thousands of accepted types", "/", header("Accept", "a/b,")),
    get("the largest asset, not compressed", largestAsset),
    get("a bearer token of spaces", "/auth/me", `Authorization: Bearer${fill(" ", HEAD_BYTES)}x`),
    get(
      "a bearer token with long claims",
      "/auth/me",
      `Authorization: Bearer ${base64url('{"alg":"HS256"}')}.${fill("x", HEAD_BYTES - 100)}.${signature}`,
    ),
    get(
      "a bearer token whose header has members of one hash",
      "/auth/me",
      `Authorization: Bearer ${base64url(jsonOfOneHash.replace('"id":1', '"alg":"HS256"'))}.${claims}.${signature}`,
    ),
  ];
}
