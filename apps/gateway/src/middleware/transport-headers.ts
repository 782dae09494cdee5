/**
 * Sets `Connection` and `Date` where Bun does not. After a chunked request with a trailer, Bun sends an unsolicited
 * 400 (oven-sh/bun#32887). Every response to a chunked request therefore closes the connection (RFC 9112 §9.6), so that no
 * proxy can mistake the 400 for the response to another client's request.
 */
import { BODY_MAX_CHUNKS } from "@latchkey/contracts";
import { Elysia } from "elysia";

const DRAIN_TIMEOUT_MS = 1000;
/** A body is drained until the timeout if its chunks have at least this average size. */
const DRAIN_CHUNK_BYTES = 4096;

const isChunked = (request: Request): boolean => request.headers.has("transfer-encoding");

export function transportHeaders({ isStopping }: { readonly isStopping: () => boolean }) {
  return new Elysia({ name: "transport-headers" }).onRequest(({ request, set }) => {
    if (isStopping() || isChunked(request)) set.headers.connection = "close";
    // Bun omits `Date` on responses to HEAD (RFC 9110 §6.6.1, §9.3.2).
    if (request.method === "HEAD") set.headers.date = new Date().toUTCString();
  });
}

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
