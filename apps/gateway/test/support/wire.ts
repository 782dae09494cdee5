/** An HTTP connection for tests: sends any bytes and returns responses one at a time, read by their framing only. */
import { connect } from "node:net";

export interface WireResponse {
  readonly status: number;
  /** As sent, in order, with lower-case names; a repeated header is listed repeatedly. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

export type Wire = Awaited<ReturnType<typeof openWire>>;

interface WireOptions {
  /** @default "127.0.0.1" */
  readonly hostname?: string;
  readonly port: number;
  /** @default 10_000 */
  readonly deadlineMs?: number;
}

export async function openWire({ hostname = "127.0.0.1", port, deadlineMs = 10_000 }: WireOptions) {
  const opened = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port, allowHalfOpen: true }, opened.resolve);
  let received: Buffer = Buffer.alloc(0);
  let wake = (): void => {};
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  socket.on("end", () => socket.end());
  // A reset also closes the connection.
  socket.on("error", opened.reject);
  socket.on("close", () => {
    wake();
    closed.resolve();
  });
  await opened.promise;

  return {
    /** `last` half-closes the connection: the server does not wait for more. */
    send: (bytes: string | Uint8Array, last?: "last") =>
      void (last ? socket.end(bytes) : socket.write(bytes)),
    /** The next final response, or null if the server closes first. Rejects after `deadlineMs`. */
    async readResponse(method: string): Promise<WireResponse | null> {
      const late = Promise.withResolvers<never>();
      const timer = setTimeout(
        () => late.reject(new Error(`No response within ${deadlineMs} ms`)),
        deadlineMs,
      );
      try {
        while (true) {
          const parsed = parseResponse(received, method);
          if (parsed) {
            received = parsed.rest;
            if (parsed.response.status >= 200) return parsed.response;
            continue;
          }
          if (socket.destroyed) return null;
          const more = Promise.withResolvers<void>();
          wake = more.resolve;
          await Promise.race([more.promise, late.promise]);
        }
      } finally {
        clearTimeout(timer);
      }
    },
    /** All bytes that are not read yet, once the connection is closed. */
    async readRest(): Promise<string> {
      await closed.promise;
      return received.toString();
    },
    get isOpen() {
      return !socket.destroyed;
    },
    /** Resolves when the connection is closed, by either side. */
    closed: closed.promise,
    [Symbol.dispose]: () => void socket.destroy(),
  };
}

/** Sends `bytes` and returns everything received until the server closes the connection. */
export async function exchangeBytes(options: WireOptions, bytes: string | Uint8Array): Promise<string> {
  using wire = await openWire(options);
  wire.send(bytes);
  return await wire.readRest();
}

/** A request with a JSON text of announced length. */
export const jsonRequest = (operation: string, text: string, ...headers: readonly string[]): string =>
  [
    ...[`${operation} HTTP/1.1`, "Host: x", "Content-Type: application/json", ...headers],
    ...[`Content-Length: ${Buffer.byteLength(text)}`, "", text],
  ].join("\r\n");

/** The bytes in chunks of this length. */
export function chunked(bytes: Uint8Array, chunkBytes: number): Buffer {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; at += chunkBytes) {
    const chunk = bytes.subarray(at, at + chunkBytes);
    parts.push(Buffer.from(`${chunk.byteLength.toString(16)}\r\n`), chunk, Buffer.from("\r\n"));
  }
  return Buffer.concat([...parts, Buffer.from("0\r\n\r\n")]);
}

/** The first response in `bytes` (RFC 9112 §6.3), or null if it is incomplete. The service sends no chunked responses. */
function parseResponse(bytes: Buffer, method: string) {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const [statusLine = "", ...lines] = bytes.toString("latin1", 0, headEnd).split("\r\n");
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?: |$)/.exec(statusLine)?.[1]);
  if (Number.isNaN(status)) throw new Error(`No status line: ${statusLine}`);
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  const isBodiless = method === "HEAD" || status === 204 || status === 304 || status < 200;
  const announced = headers.find(([name]) => name === "content-length")?.[1];
  const bodyStart = headEnd + "\r\n\r\n".length;
  const bodyEnd = bodyStart + (isBodiless ? 0 : Number(announced ?? 0));
  if (bytes.byteLength < bodyEnd) return null;
  const response: WireResponse = { status, headers, body: bytes.subarray(bodyStart, bodyEnd) };
  return { response, rest: bytes.subarray(bodyEnd) };
}
