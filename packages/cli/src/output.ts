/** Writes to standard output and standard error. Texts from outside never control the terminal: see `printable`. */
import { EXIT } from "./errors.ts";

/**
 * Control characters (Unicode Cc); format characters (Cf), which are invisible or reverse the direction of text; other invisible
 * characters, and all spaces and blanks except the usual space, which imitate the columns of a table.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Replaces each unprintable character with its JSON escape, such as `\u200b`; two of them beyond U+FFFF. */
export const printable = (text: string): string =>
  text.replace(UNPRINTABLE, (character) => character.split("").map(escapeUnit).join(""));

/** JSON with printable strings: a parser returns the original characters. */
export const toJson = (value: unknown): string => printable(JSON.stringify(value));

/** Resolves when the text was written: a slow reader gets everything, and a long listing is never all in memory. */
export const write = (text: string): Promise<void> =>
  new Promise((resolve) => {
    // After an error the handler of `exitOnOutputError` ends the process.
    process.stdout.write(text, (error) => {
      if (!error) resolve();
    });
  });

/** Writes progress, questions and errors. */
export const writeError = (text: string): void => void process.stderr.write(text);

/** Ends the process when standard output fails: with 0 if the reader closed the pipe, as `head` does, otherwise with 1. */
export function exitOnOutputError(): void {
  process.stdout.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
    if (code === "EPIPE") process.exit(EXIT.ok);
    writeError(`Cannot write to standard output (${code}).\n`);
    process.exit(EXIT.failed);
  });
}
