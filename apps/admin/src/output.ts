/**
 * What goes to standard output: aligned tables for people, JSON for programs. No text from the database reaches a
 * terminal with a control character in it: a username may hold any, escape sequences included.
 */
import { once } from "node:events";

/** Control characters (Unicode Cc), line and paragraph separators, and what turns the direction of text. */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** `text` with each unprintable character as its escape in JSON, `\u001b`. */
export function printable(text: string): string {
  return text.replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** JSON whose texts are printable: the escapes within its quotes mean the same characters. */
export const toJson = (value: unknown): string => printable(JSON.stringify(value));

/** Waits for a slow reader, so that a long listing is never all in memory. */
export async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}

const GAP = "  ";

/** A table that is printed in parts: each part is aligned, at least as wide as those before it. */
export class Table {
  readonly #columns: readonly string[];
  readonly #widths: number[];

  constructor(columns: readonly string[]) {
    this.#columns = columns;
    this.#widths = columns.map((name) => name.length);
  }

  /** The headings and the first rows, which the headings are as wide as. */
  begin(rows: readonly (readonly string[])[]): string {
    return this.rows([this.#columns, ...rows]);
  }

  rows(rows: readonly (readonly string[])[]): string {
    const shown = rows.map((row) => row.map(printable));
    for (const row of shown) {
      for (const [column, cell] of row.entries()) {
        this.#widths[column] = Math.max(this.#widths[column] ?? 0, Bun.stringWidth(cell));
      }
    }
    return shown
      .map(
        (row) =>
          `${row
            .map((cell, column) => this.#pad(cell, column))
            .join(GAP)
            .trimEnd()}\n`,
      )
      .join("");
  }

  #pad(cell: string, column: number): string {
    return cell + " ".repeat((this.#widths[column] ?? 0) - Bun.stringWidth(cell));
  }
}
