/**
 * Bytes that never change while the process runs, and how they are answered: named by their hash, compressed at most
 * once for each coding, when somebody first asks. Of a file only the compressed forms stay in memory.
 */
import { type Encoding, encode, negotiateEncoding } from "./encoding.ts";

export interface ContentOptions {
  /** With its charset. */
  readonly type: string;
  readonly cacheControl: string;
  /** Names the bytes: other bytes, another hash. */
  readonly hash: string;
  /** Gives the bytes, the same each time. */
  readonly read: () => Promise<Uint8Array>;
  /** Beside those of the type and the cache. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Content extends Omit<ContentOptions, "read"> {
  encoded(encoding: Encoding): Promise<Uint8Array>;
}

export function createContent({ read, ...described }: ContentOptions): Content {
  const compressed = new Map<Encoding, Promise<Uint8Array>>();
  const compress = async (encoding: Encoding) => encode(await read(), encoding);
  return {
    ...described,
    encoded(encoding) {
      if (encoding === "identity") return read();
      const known = compressed.get(encoding);
      if (known) return known;
      const fresh = compress(encoding);
      compressed.set(encoding, fresh);
      // A file that could not be read is tried again by the next request.
      fresh.catch(() => compressed.delete(encoding));
      return fresh;
    },
  };
}

/** Of text that is made here: named by its hash, and asked for anew each time. */
export function createText(text: string, options: Pick<ContentOptions, "type" | "headers">): Content {
  const bytes = new TextEncoder().encode(text);
  return createContent({
    ...options,
    cacheControl: "no-cache",
    hash: hashOf(bytes),
    read: async () => bytes,
  });
}

/** Long enough that two contents never share it. */
const HASH_LENGTH = 24;

export const hashOf = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);

interface RequestContext {
  readonly request: Request;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number | string[]> };
}

/** Answers with `content` in the coding that the client prefers, or with 304 if it has that already (RFC 9110 §13). */
export async function serve(
  content: Content,
  { request, set }: RequestContext,
): Promise<Uint8Array | undefined> {
  const encoding = negotiateEncoding(request.headers.get("accept-encoding"));
  const etag = encoding === "identity" ? `"${content.hash}"` : `"${content.hash}-${encoding}"`;
  // A 304 renews the headers of what is cached, so it has the same ones.
  Object.assign(set.headers, content.headers, {
    etag,
    "cache-control": content.cacheControl,
    vary: [set.headers.vary, "Accept-Encoding"].flat().filter(Boolean).join(", "),
  });
  if (isHeld(request.headers.get("if-none-match"), etag)) {
    set.status = 304;
    return undefined;
  }
  set.headers["content-type"] = content.type;
  if (encoding !== "identity") set.headers["content-encoding"] = encoding;
  return content.encoded(encoding);
}

/** The weak comparison of RFC 9110 §8.8.3.2; our tags contain no comma. */
function isHeld(ifNoneMatch: string | null, etag: string): boolean {
  const held = new Set([etag, `W/${etag}`, "*"]);
  return (ifNoneMatch ?? "").split(",").some((tag) => held.has(tag.trim()));
}
