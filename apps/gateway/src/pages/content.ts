/**
 * Responses whose bytes do not change while the process runs. The `ETag` contains the hash of the bytes. The first request for a
 * coding compresses the bytes, outside the event loop.
 */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import type { Context } from "elysia";
import { mapMembers } from "../map-members.ts";
import { CORS_HEADERS } from "../middleware/cors.ts";

const COMPRESSORS = {
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 }),
  // Levels 10 and 11 take twenty times as long and save only a tenth of the bytes.
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
    }),
};
type Coding = keyof typeof COMPRESSORS;
/** If a client accepts several codings equally, the last one in this list is chosen. */
const CODINGS: readonly Coding[] = ["gzip", "br"];

interface ContentOptions {
  /** The media type with a charset. */
  readonly type: string;
  readonly cacheControl: string;
  readonly hash: string;
  /** Headers in addition to those that `serve` sets. */
  readonly headers?: Readonly<Record<string, string>>;
  /**
   * The uncompressed bytes. Use a blob for large content, because the server copies an array for each client that reads slowly.
   * The server ignores `If-Range` for blobs. A changed blob needs a new path, or clients could combine ranges of both versions.
   */
  readonly identity: Blob | Uint8Array;
}

export interface Content extends ContentOptions {
  /** Compresses the bytes at the first call. */
  compressed(coding: Coding): Promise<Uint8Array>;
}

export function createContent(options: ContentOptions): Content {
  const { identity } = options;
  const compressed = mapMembers(COMPRESSORS, (compress) =>
    once(async () => compress(identity instanceof Blob ? await identity.bytes() : identity)),
  );
  return { ...options, compressed: (coding) => compressed[coding]() };
}

/** Returns a function that keeps the result of the first call. A failure is not kept: the next call tries again. */
export function once<Result>(create: () => Promise<Result>): () => Promise<Result> {
  let result: Promise<Result> | undefined;
  return () => {
    result ??= create().catch((error) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

/** Creates the content for a text. Clients revalidate the text on each use. */
export function createText(text: string, options: Pick<ContentOptions, "type" | "headers">): Content {
  const identity = new TextEncoder().encode(text);
  return createContent({ ...options, cacheControl: "no-cache", hash: hashOf(identity), identity });
}

/** Long enough to make collisions impossible in practice. */
const HASH_LENGTH = 24;

export const hashOf = (bytes: Uint8Array): string =>
  new Bun.CryptoHasher("sha256").update(bytes).digest("hex").slice(0, HASH_LENGTH);

/**
 * Responds in the coding that the client prefers, or with 304 if the client already has the content (RFC 9110 §13).
 * @param chosenBy the header by which the content was chosen. @default none
 */
export async function serve(
  content: Content,
  { request, set }: Pick<Context, "request" | "set">,
  chosenBy: string | null = null,
): Promise<Blob | Uint8Array | undefined> {
  const coding = negotiateCoding(request.headers.get("accept-encoding"));
  const etag = coding === null ? `"${content.hash}"` : `"${content.hash}-${coding}"`;
  // Clients copy the headers of a 304 to the cached response, so both responses need the same headers.
  Object.assign(set.headers, content.headers, {
    etag,
    "cache-control": content.cacheControl,
    vary: `${CORS_HEADERS.vary}, Accept-Encoding${chosenBy === null ? "" : `, ${chosenBy}`}`,
  });
  if (isCached(request.headers.get("if-none-match"), etag)) {
    set.status = 304;
    return undefined;
  }
  set.headers["content-type"] = content.type;
  if (coding === null) return content.identity;
  set.headers["content-encoding"] = coding;
  return content.compressed(coding);
}

/** Compares weakly (RFC 9110 §8.8.3.2). A comma always separates two tags, because the tags of this service contain no comma. */
function isCached(ifNoneMatch: string | null, etag: string): boolean {
  const matches = new Set([etag, `W/${etag}`, "*"]);
  return (ifNoneMatch ?? "").split(",").some((tag) => matches.has(tag.trim()));
}

/** The codings that are read from `Accept-Encoding`. Others are skipped, so that a long header takes little time and memory. */
const NAMED_CODINGS: ReadonlySet<string> = new Set([...CODINGS, "identity", "*"]);

/**
 * Chooses a coding (RFC 9110 §12.5.3). A missing or malformed weight counts as 1. Returns null for `identity`, which is chosen
 * only if the client accepts no other coding, or if the header gives `identity` a higher weight.
 */
function negotiateCoding(accepted: string | null): Coding | null {
  const weights: Partial<Record<string, number>> = {};
  for (const entry of (accepted ?? "").toLowerCase().split(",")) {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (!NAMED_CODINGS.has(coding)) continue;
    const weight = Number.parseFloat(
      parameters.find((one) => one.startsWith("q="))?.slice("q=".length) ?? "",
    );
    weights[coding] = Number.isNaN(weight) ? 1 : weight;
  }
  let best: Coding | null = null;
  let bestWeight = weights.identity ?? 0;
  for (const coding of CODINGS) {
    const weight = weights[coding] ?? weights["*"] ?? 0;
    if (weight > 0 && weight >= bestWeight) [best, bestWeight] = [coding, weight];
  }
  return best;
}
