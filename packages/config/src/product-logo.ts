/**
 * The logo of the product: an SVG or a PNG. A script in an SVG is harmless, because the service serves the file as an image, under a
 * policy without scripts. Entities are rejected: a small file can expand to any size.
 */
import { InvalidValue, invalid, type Kind } from "./variable-kinds.ts";

export interface ProductLogo {
  readonly type: "image/svg+xml" | "image/png";
  /** The bytes of the file, as latin1. */
  readonly content: string;
  /** In pixels; null: those of an SVG are not read. */
  readonly width: number | null;
  readonly height: number | null;
}

const MAX_BYTES = 64 * 1024;
/** The signature and the header of the first chunk (PNG, third edition, 5.2 and 11.2.1). */
const PNG_START = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
const PNG_END = "IEND\xae\x42\x60\x82";
/** A larger picture would need more memory than a logo deserves. */
const MAX_PIXELS = 4096;

/** The root element, after an optional declaration, comments, instructions and a document type without own declarations. */
const SVG =
  /^(?:\xef\xbb\xbf)?\s*(?:<\?[^>]*>\s*|<!--[\s\S]*?-->\s*|<!DOCTYPE[^>[]*>\s*)*<(?:\w+:)?svg[\s>/]/i;

export const productLogo: Kind<ProductLogo> = {
  accepted: "an SVG or PNG file of at most 64 KiB",
  parse: (path, readFile) => {
    if (path === "") invalid();
    const content = read(() => readFile(path, "latin1"));
    if (content.length > MAX_BYTES) invalid("names a file of more than 64 KiB");
    return content.startsWith(PNG_START.slice(0, 4)) ? parsePng(content) : parseSvg(content);
  },
};

function read(readText: () => string): string {
  try {
    return readText();
  } catch {
    throw new InvalidValue("names a file that cannot be read");
  }
}

function parsePng(content: string): ProductLogo {
  const header = Buffer.from(content.slice(0, PNG_START.length + 8), "latin1");
  const isWhole = content.startsWith(PNG_START) && content.endsWith(PNG_END);
  if (!isWhole || header.length < PNG_START.length + 8)
    return invalid("names a file that is not a whole PNG");
  const [width, height] = [header.readUInt32BE(PNG_START.length), header.readUInt32BE(PNG_START.length + 4)];
  if (![width, height].every((size) => size >= 1 && size <= MAX_PIXELS))
    return invalid(`names a PNG whose width or height is not 1 to ${MAX_PIXELS} pixels`);
  return { type: "image/png", content, width, height };
}

function parseSvg(content: string): ProductLogo {
  if (/<!ENTITY/i.test(content)) return invalid("names an SVG with entities");
  if (!SVG.test(content) || !/(<\/(?:\w+:)?svg\s*>|\/>)\s*(?:<!--[\s\S]*?-->\s*)*$/i.test(content))
    return invalid("names a file that is neither an SVG nor a PNG");
  if (!content.includes("http://www.w3.org/2000/svg"))
    return invalid('names an SVG without xmlns="http://www.w3.org/2000/svg", which browsers do not show');
  return { type: "image/svg+xml", content, width: null, height: null };
}
