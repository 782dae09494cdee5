/** Reads and parses request bodies: at most 128 KiB, valid UTF-8, JSON. Discards what an error leaves unread. */
import {
  BODY_MAX_BYTES,
  BODY_MAX_CHUNKS,
  NEW_EMAIL_PATTERN,
  normalizeEmail,
  toAsciiEmail,
} from "@latchkey/contracts";
import Type from "typebox";
import { ServiceError } from "../errors.ts";
import {
  ACCEPTED_JSON,
  InvalidMember,
  type JsonReader,
  readJsonClaims,
  readJsonMembers,
  readJsonTexts,
} from "./json.ts";

/** `application/json` (RFC 8259 §11), or a type with the suffix `+json` (RFC 6839 §3.1). Parameters are ignored. */
const JSON_CONTENT_TYPE = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i;

const DRAIN_TIMEOUT_MS = 1000;
/** A body is drained until the timeout if its chunks have at least this average size. */
const DRAIN_CHUNK_BYTES = 4096;

const refuse = (type: string, msg: string, members: readonly string[] = []): never => {
  throw new ServiceError("INVALID_REQUEST", { issues: [{ loc: ["body", ...members], msg, type }] });
};

/**
 * Returns the `parse` function of a route. This function returns the members that the schema declares, with a normalized
 * `email`, or null if the body is JSON but not an object. A new e-mail is also converted to ASCII.
 * @throws INVALID_REQUEST: `json_invalid` for a missing body, invalid UTF-8, malformed JSON, more than 64 levels, an object with more
 * than 256 members, or claims that are too long or have a name twice; `content_encoding` if the body is compressed; `content_type` if
 * `Content-Type` is not JSON
 * @throws PAYLOAD_TOO_LARGE when more than 128 KiB or 512 chunks were received
 */
export function jsonBody(schema: Type.TObject) {
  const read = createReader(schema);
  const { email: emailSchema } = schema.properties;
  const isNewEmail =
    emailSchema !== undefined && "pattern" in emailSchema && emailSchema.pattern === NEW_EMAIL_PATTERN;
  return async ({ request }: { readonly request: Request }): Promise<Record<string, unknown> | null> => {
    const bytes = await readBounded(request);
    if (bytes.byteLength === 0) refuse("json_invalid", "must be a JSON object, but the body is empty");
    if (!/^(identity)?$/i.test(request.headers.get("content-encoding") ?? "")) {
      refuse("content_encoding", "must be sent without a content coding");
    }
    if (!JSON_CONTENT_TYPE.test(request.headers.get("content-type") ?? "")) {
      refuse("content_type", "must be sent as application/json");
    }
    try {
      const members = read(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      if (typeof members?.email === "string") {
        const email = normalizeEmail(members.email);
        members.email = isNewEmail ? toAsciiEmail(email) : email;
      }
      return members;
    } catch (error) {
      if (error instanceof InvalidMember) return refuse("json_invalid", error.message, [error.member]);
      return refuse("json_invalid", `must be ${ACCEPTED_JSON}`);
    }
  };
}

function createReader({ properties }: Type.TObject) {
  const names = Object.keys(properties);
  const readers = Object.entries(properties).flatMap(([name, property]): [string, JsonReader][] => {
    if (Type.IsObject(property)) return [[name, createReader(property)]];
    if ("propertyNames" in property) return [[name, readJsonClaims(name)]];
    if (!Type.IsArray(property)) return [];
    const maxItems = "maxItems" in property ? Number(property.maxItems) : 0;
    return [[name, readJsonTexts(maxItems)]];
  });
  const byName = new Map(readers);
  return (json: string) => readJsonMembers(json, names, byName);
}

/**
 * The `parse` function of a route that needs no body. If a client sends a body, reads and ignores the body before the route runs.
 * @throws PAYLOAD_TOO_LARGE like `jsonBody`
 */
export async function ignoreBody({ request }: { readonly request: Request }): Promise<null> {
  if (request.body !== null) await readBounded(request);
  return null;
}

/** @throws PAYLOAD_TOO_LARGE */
export async function readBounded(request: Request): Promise<Uint8Array> {
  // Bun reads no more than `Content-Length` bytes, and `bodyLimit` has checked this number.
  if (request.headers.has("content-length")) return request.bytes();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // `errorHandler` drains the rest of a body that is too large.
  for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
    size += chunk.byteLength;
    chunks.push(chunk);
    if (size > BODY_MAX_BYTES || chunks.length > BODY_MAX_CHUNKS) throw new ServiceError("PAYLOAD_TOO_LARGE");
  }
  return Buffer.concat(chunks);
}

export const isChunked = (request: Request): boolean => request.headers.has("transfer-encoding");

/**
 * Discards the unread rest of a chunked body: the response can be lost if the connection is closed before the rest arrives.
 * Stops early if the chunks are small, because each chunk takes processor time, whatever its size.
 */
export async function drainChunkedBody(request: Request): Promise<void> {
  if (!isChunked(request)) return;
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), DRAIN_TIMEOUT_MS);
  let remainingChunks = BODY_MAX_CHUNKS;
  const write = ({ byteLength }: Uint8Array) => {
    remainingChunks += byteLength / DRAIN_CHUNK_BYTES - 1;
    if (remainingChunks <= 0) stop.abort();
  };
  // `pipeTo` rejects if the body was already read, or if `stop` was aborted.
  await request.body?.pipeTo(new WritableStream({ write }), { signal: stop.signal }).catch(() => {});
  clearTimeout(timer);
}
