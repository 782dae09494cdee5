/** Asks questions on the terminal. Prompts go to standard error, because standard output contains only results. */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CliError, EXIT, usageError } from "./errors.ts";
import { writeError } from "./output.ts";

export const isTerminal = (): boolean => process.stdin.isTTY === true;

/** @throws {CliError} with exit code 1 for any answer except yes (message `declined`), 64 without a terminal, 130 for Ctrl-C */
export async function confirm(question: string, declined = "Nothing was changed."): Promise<void> {
  if (!isTerminal()) throw usageError("Cannot prompt without a terminal; pass --yes.");
  using reader = openLineReader({ echo: true });
  if (/^y(es)?$/i.test((await reader.ask(`${question} [y/N] `)).trim())) return;
  throw new CliError(declined, EXIT.failed);
}

/** Uses the line editing of the terminal. A line that the user types before a question counts as the answer. */
export function openLineReader({ echo }: { readonly echo: boolean }) {
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = echo ? process.stderr : discard;
  const readline = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  const lines = readline[Symbol.asyncIterator]();
  let isInterrupted = false;
  let hasEnded = false;
  readline.on("SIGINT", () => {
    isInterrupted = true;
    readline.close();
  });
  return {
    async ask(question: string): Promise<string> {
      if (echo) {
        readline.setPrompt(question);
        readline.prompt();
      } else writeError(question);
      const line = await lines.next();
      hasEnded = line.done === true;
      if (!echo || line.done) writeError("\n");
      if (isInterrupted) throw new CliError("", EXIT.interrupted);
      return line.done ? "" : line.value;
    },
    hasEnded: () => hasEnded,
    [Symbol.dispose]: () => readline.close(),
  };
}
