/** The bytes of a hostile request, and the damage to them. */
import type { Damage, HostileRequest } from "./requests.ts";

export function encodeRequest(hostile: HostileRequest, token: string): Buffer {
  const { method, target, headers, authorization: credentials, body: bytes, isChunked } = hostile;
  const lines = [`${method} ${target} HTTP/1.1`, "Host: fuzz.example"];
  for (const [name, content] of headers) lines.push(`${name}: ${content}`);
  if (credentials) {
    lines.push(`Authorization: ${credentials.kind === "valid" ? `Bearer ${token}` : credentials.value}`);
  }
  if (bytes !== null)
    lines.push(isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes.byteLength}`);
  const head = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  if (bytes === null) return head;
  return Buffer.concat([head, ...(isChunked ? chunks(bytes) : [bytes])]);
}

function chunks(bytes: Uint8Array): Uint8Array[] {
  const half = Math.ceil(bytes.byteLength / 2);
  const parts = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ byteLength }) => byteLength > 0);
  const written = parts.flatMap((part) => [
    Buffer.from(`${part.byteLength.toString(16)}\r\n`),
    part,
    Buffer.from("\r\n"),
  ]);
  return [...written, Buffer.from("0\r\n\r\n")];
}

export function damageBytes(bytes: Buffer, { edits, keep }: Damage): Buffer {
  let damaged = bytes;
  for (const { at, drop, insert } of edits) {
    const place = Math.floor(damaged.byteLength * at);
    const [before, after] = [damaged.subarray(0, place), damaged.subarray(place + drop)];
    damaged = Buffer.concat([before, Buffer.from(insert, "latin1"), after]);
  }
  return damaged.subarray(0, Math.ceil(damaged.byteLength * keep));
}
