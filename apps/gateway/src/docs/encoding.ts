/** Which coding of a body a client is given (RFC 9110 §12.5.3), and the compression itself, off the event loop. */
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

/** Preferred first, where a client likes several the same. */
const CODINGS = ["br", "gzip"] as const;
export type Encoding = (typeof CODINGS)[number] | "identity";

/** Other codings are skipped, so that a long header takes little time and memory. */
const NAMED_CODINGS: ReadonlySet<string> = new Set([...CODINGS, "identity", "*"]);

/** An absent or malformed weight counts as 1; `identity` is always possible, and least preferred unless it is named. */
export function negotiateEncoding(accepted: string | null): Encoding {
  const weights: Partial<Record<string, number>> = {};
  for (const entry of (accepted ?? "").toLowerCase().split(",")) {
    const [coding = "", ...parameters] = entry.split(";").map((part) => part.trim());
    if (!NAMED_CODINGS.has(coding)) continue;
    const weight = parameters.find((parameter) => parameter.startsWith("q="))?.slice("q=".length);
    weights[coding] = weight === undefined || Number.isNaN(Number(weight)) ? 1 : Number(weight);
  }
  let best: Encoding = "identity";
  let bestWeight = weights.identity ?? 0;
  for (const coding of CODINGS.toReversed()) {
    const weight = weights[coding] ?? weights["*"] ?? 0;
    if (weight > 0 && weight >= bestWeight) [best, bestWeight] = [coding, weight];
  }
  return best;
}

const compressors = {
  // The last two levels take twenty times as long for a tenth of the size.
  br: (bytes: Uint8Array) =>
    promisify(brotliCompress)(bytes, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.byteLength },
    }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 }),
  identity: async (bytes: Uint8Array) => bytes,
};

export const encode = (bytes: Uint8Array, encoding: Encoding): Promise<Uint8Array> =>
  compressors[encoding](bytes);
