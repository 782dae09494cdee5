/**
 * `Connection` and `Date`, where the server does not set them. After a chunked request with a trailer, Bun sends an unsolicited
 * 400 (oven-sh/bun#32887). Every response to a chunked request therefore closes its connection (RFC 9112 §9.6): no
 * proxy can take the 400 for the response to another client's request.
 */
import { BODY_MAX_CHUNKS } from "@latchkey/contracts";
import { Elysia } from "elysia";

const DRAIN_TIMEOUT_MS = 1000;
/** Chunks of at least this size on average are drained until the timeout. */
const DRAIN_CHUNK_BYTES = 4096;

const isChunked = (request: Request): boolean => request.headers.has("transfer-encoding");

export function transportHeaders({ isStopping }: { readonly isStopping: () => boolean }) {
  return new Elysia({ name: "transport-headers" }).onRequest(({ request, set }) => {
    if (isStopping() || isChunked(request)) set.headers.connection = "close";
    // The server omits it on responses to HEAD (RFC 9110 §6.6.1, §9.3.2).
    if (request.method === "HEAD") set.headers.date = new Date().toUTCString();
  });
}

/**
 * Discards the unread rest of a chunked body: if the connection is closed before it arrives, the response can be lost.
 * Stops early if the chunks are small, because each takes time.
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
  // Rejects if the body was read before, or if the drain was stopped.
  await request.body?.pipeTo(new WritableStream({ write }), { signal: stop.signal }).catch(() => {});
  clearTimeout(timer);
}
