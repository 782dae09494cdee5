/** Splits a file into lines. The text of a line that is too long is dropped, so memory is bounded. */

/** Far above the length of a valid line, which is less than 3 KiB. */
const MAX_LINE_BYTES = 16 * 1024;
const LINE_FEED = 10;

export interface Line {
  /** The number of the line, from 1. */
  readonly number: number;
  /** The text without the line ending; empty if the line cannot be read. */
  readonly text: string;
  /** The reason why the line cannot be read; null if the line can be read. */
  readonly problem: string | null;
}

/** Yields, for each chunk, the lines that end in it, with LF or CRLF, and a last line without either. A BOM is ignored. */
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
