/** Writes to standard output and standard error. `printable` prevents external text from controlling the terminal. */
import { EXIT } from "./errors.ts";

/**
 * Matches control characters (Unicode Cc), format characters (Cf) and other invisible characters. Format characters are invisible
 * or reverse the direction of text. Spaces other than U+0020 match too, because they can imitate the gap between two columns.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

const PLAIN = /^[ -~]*$/;

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Replaces each unprintable character with its JSON escape, such as `\u200b`. Characters beyond U+FFFF become two escapes. */
export const printable = (text: string): string =>
  // Almost every text is plain, and the service writes each line of its log through this function.
  PLAIN.test(text)
    ? text
    : text.replace(UNPRINTABLE, (character) => character.split("").map(escapeUnit).join(""));

/** Returns JSON in which unprintable characters are escaped. A JSON parser returns the original characters. */
export const toJson = (value: unknown): string => printable(JSON.stringify(value));

/** Resolves when the text was written: a slow reader gets everything, and a long listing is never completely in memory. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve) => {
    // After an error, the promise stays pending: `exitOnOutputError` ends the process.
    process.stdout.write(text, (error) => {
      if (!error) resolve();
    });
  });

/** Writes progress, questions and errors to standard error. */
export const writeError = (text: string): void => void process.stderr.write(text);

/** Ends the process when a write to standard output fails: with 0 if the reader closed the pipe, otherwise 1. */
export function exitOnOutputError(): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(EXIT.ok);
    writeError(`Cannot write to standard output (${code}).\n`);
    process.exit(EXIT.failed);
  });
}
