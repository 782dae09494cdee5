/** Reads request bodies: at most so many bytes, strict UTF-8, JSON. Refuses by its length what never needs to be read. */
import { BODY_MAX_BYTES, type ValidationIssue } from "@latchkey/contracts";
import { Elysia } from "elysia";
import { InvalidRequest, PayloadTooLarge } from "../errors.ts";

/** RFC 8259 §11, and the structured suffix of RFC 6839 §3.1; parameters are ignored. */
const JSON_CONTENT_TYPE = /^\s*application\/([\w.+-]+\+)?json\s*(;|$)/i;

const refuse = (type: string, msg: string): never => {
  const issue: ValidationIssue = { loc: ["body"], msg, type };
  throw new InvalidRequest([issue]);
};

/** Refuses early a body whose announced length is over the limit, whatever the route. */
export function bodyLimit() {
  return new Elysia({ name: "body-limit" }).onRequest(({ request }) => {
    const announced = request.headers.get("content-length");
    if (announced !== null && Number(announced) > BODY_MAX_BYTES) throw new PayloadTooLarge();
  });
}

/**
 * Parses a JSON body (RFC 8259), for a route's `parse`.
 * @throws {InvalidRequest} `json_invalid` for no body, bytes that are no UTF-8 or no JSON; `content_type` for another type
 * @throws {PayloadTooLarge} as soon as the bytes read pass the limit, chunked bodies included
 */
export async function parseJsonBody({ request }: { readonly request: Request }): Promise<unknown> {
  const bytes = await readBounded(request);
  if (bytes.byteLength === 0) refuse("json_invalid", "must be a JSON object, but there is no body");
  if (!JSON_CONTENT_TYPE.test(request.headers.get("content-type") ?? "")) {
    refuse("content_type", "must be sent as application/json");
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    return refuse("json_invalid", "must be valid JSON in UTF-8");
  }
}

async function readBounded(request: Request): Promise<Uint8Array> {
  // A body of announced length cannot be longer than that, and `bodyLimit` has judged the length.
  if (request.headers.has("content-length")) return request.bytes();
  const chunks: Uint8Array[] = [];
  let size = 0;
  // `errorHandler` drains the rest of a body that is too large.
  for await (const chunk of request.body?.values({ preventCancel: true }) ?? []) {
    size += chunk.byteLength;
    if (size > BODY_MAX_BYTES) throw new PayloadTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
