/** Splits a file into lines. A line that is too long is skipped, not kept: memory is bounded. */

/** A line of an import has less than 1 KiB. */
const MAX_LINE_BYTES = 16 * 1024;
const LINE_FEED = 10;

export interface Line {
  /** From 1. */
  readonly number: number;
  /** Without its end; empty if it cannot be read. */
  readonly text: string;
  /** The reason why it cannot be read. */
  readonly problem: string | null;
}

/** Yields the lines that end in each chunk. Lines end with LF or CRLF; the last one can end without; a BOM is ignored. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line[]> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let number = 0;
  let parts: Uint8Array[] = [];
  let length = 0;

  const add = (part: Uint8Array): void => {
    length += part.length;
    parts = length > MAX_LINE_BYTES ? [] : [...parts, part];
  };
  const finish = (): Line => {
    const problem = length > MAX_LINE_BYTES ? `The line is longer than ${MAX_LINE_BYTES} bytes.` : null;
    const bytes = Buffer.concat(parts);
    [parts, length] = [[], 0];
    number += 1;
    try {
      return { number, text: decoder.decode(bytes).replace(/\r$/, ""), problem };
    } catch {
      return { number, text: "", problem: "The line is not valid UTF-8." };
    }
  };

  for await (const chunk of chunks) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      add(chunk.subarray(start, end));
      lines.push(finish());
      start = end + 1;
    }
    add(chunk.subarray(start));
    yield lines;
  }
  if (length > 0) yield [finish()];
}
