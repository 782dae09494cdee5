/**
 * Responses whose bytes do not change while the process runs, each named by the hash of its bytes. They are compressed
 * at most once per coding, on the first request for it, outside the event loop.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { CORS_HEADERS } from "../../middleware/cors.ts";

/** In order of preference, for clients that accept several equally. */
const CODINGS = ["br", "gzip"] as const;
type Encoding = (typeof CODINGS)[number] | "identity";

export interface Content {
  /** With its charset. */
  readonly type: string;
  readonly cacheControl: string;
  readonly hash: string;
  /** In addition to those of the type and the cache. */
  readonly headers?: Readonly<Record<string, string>>;
  encoded(encoding: Encoding): Promise<Uint8Array>;
}

/** `read` returns the same bytes each time: of a file, only the compressed forms stay in memory. */
export function createContent({
  read,
  ...description
}: Omit<Content, "encoded"> & { readonly read: () => Promise<Uint8Array> }): Content {
  const compressed = new Map<Encoding, Promise<Uint8Array>>();
  const compress = async (encoding: Encoding) => COMPRESSORS[encoding](await read());
  return {
    ...description,
    encoded(encoding) {
      if (encoding === "identity") return read();
      const known = compressed.get(encoding) ?? compress(encoding);
      compressed.set(encoding, known);
      // The next request tries again to read a file that could not be read.
      known.catch(() => compressed.delete(encoding));
      return known;
    },
  };
}

/** For text made at startup, which clients revalidate on each use. */
export function createText(text: string, options: Pick<Content, "type" | "headers">): Content {
  const bytes = new TextEncoder().encode(text);
  return createContent({
    ...options,
    cacheControl: "no-cache",
    hash: hashOf(bytes),
    read: async () => bytes,
  });
}

/** Long enough to make collisions impossible in practice. */
const HASH_LENGTH = 24;

export const hashOf = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);

const COMPRESSORS = {
  // The two highest levels take twenty times as long and save a tenth.
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 }),
  identity: async (bytes: Uint8Array) => bytes,
};

interface RequestContext {
  readonly request: Request;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number | string[]> };
}

/** Responds in the coding that the client prefers, or with 304 if it already has the content (RFC 9110 §13). */
export async function serve(
  content: Content,
  { request, set }: RequestContext,
): Promise<Uint8Array | undefined> {
  const encoding = negotiateEncoding(request.headers.get("accept-encoding"));
  const etag = encoding === "identity" ? `"${content.hash}"` : `"${content.hash}-${encoding}"`;
  // A 304 updates the headers of the cached response, so it has the same ones.
  Object.assign(set.headers, content.headers, {
    etag,
    "cache-control": content.cacheControl,
    vary: `${CORS_HEADERS.vary}, Accept-Encoding`,
  });
  if (isCached(request.headers.get("if-none-match"), etag)) {
    set.status = 304;
    return undefined;
  }
  set.headers["content-type"] = content.type;
  if (encoding !== "identity") set.headers["content-encoding"] = encoding;
  return content.encoded(encoding);
}

/** The weak comparison of RFC 9110 §8.8.3.2; our tags contain no comma. */
function isCached(ifNoneMatch: string | null, etag: string): boolean {
  const matches = new Set([etag, `W/${etag}`, "*"]);
  return (ifNoneMatch ?? "").split(",").some((tag) => matches.has(tag.trim()));
}

/** Other codings are skipped, so that a long header takes little time and memory. */
const NAMED_CODINGS: ReadonlySet<string> = new Set([...CODINGS, "identity", "*"]);

/** RFC 9110 §12.5.3. A missing or malformed weight counts as 1; `identity` is the last choice unless it is named. */
function negotiateEncoding(accepted: string | null): Encoding {
  const weights: Partial<Record<string, number>> = {};
  for (const entry of (accepted ?? "").toLowerCase().split(",")) {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (!NAMED_CODINGS.has(coding)) continue;
    const weight = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice("q=".length));
    weights[coding] = Number.isNaN(weight) ? 1 : weight;
  }
  let best: Encoding = "identity";
  let bestWeight = weights.identity ?? 0;
  for (const coding of CODINGS.toReversed()) {
    const weight = weights[coding] ?? weights["*"] ?? 0;
    if (weight > 0 && weight >= bestWeight) [best, bestWeight] = [coding, weight];
  }
  return best;
}
