/**
 * Reads passwords and confirmations. Prompts go to standard error: standard output contains results only. A password is
 * read without echo, and never from the command line.
 */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { CliError, EXIT, usageError, writeError } from "@latchkey/cli";
import { PASSWORD_MAX_LENGTH } from "@latchkey/contracts";
import { parsePassword } from "./user-arguments.ts";

/** A code point has at most four bytes in UTF-8; a line end at most two. */
const MAX_PASSWORD_BYTES = 4 * PASSWORD_MAX_LENGTH + 2;

const isTerminal = (): boolean => process.stdin.isTTY === true;

/**
 * Prompts twice on a terminal, again after an invalid password; otherwise reads standard input, which must contain exactly one line.
 * @throws {CliError} 64 for a missing, invalid or mistyped password, 130 for Ctrl-C
 */
export async function readPassword(): Promise<string> {
  if (!isTerminal()) return parsePassword(await readPipedLine());
  using reader = openLineReader({ echo: false });
  const password = await askPassword(reader);
  if ((await reader.ask("Repeat password: ")) !== password) throw usageError("The passwords do not match.");
  return password;
}

async function askPassword(reader: ReturnType<typeof openLineReader>): Promise<string> {
  try {
    return parsePassword(await reader.ask("Password: "));
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage || reader.hasEnded()) throw error;
    writeError(`${error.message}\n`);
    return askPassword(reader);
  }
}

/** @throws {CliError} 1 unless the answer is yes, 64 without a terminal, 130 for Ctrl-C */
export async function confirm(question: string): Promise<void> {
  if (!isTerminal()) throw usageError("Cannot prompt without a terminal; pass --yes.");
  using reader = openLineReader({ echo: true });
  if (/^y(es)?$/i.test((await reader.ask(`${question} [y/N] `)).trim())) return;
  throw new CliError("Nothing was changed.", EXIT.failed);
}

/** Uses the line editing of the terminal. Lines typed before a question answer it. */
function openLineReader({ echo }: { readonly echo: boolean }) {
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

async function readPipedLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    // Stop reading: the input can be endless.
    if (bytes > MAX_PASSWORD_BYTES) throw usageError("Standard input is too long for a password.");
    chunks.push(chunk);
  }
  let line: string;
  try {
    line = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch {
    throw usageError("The password on standard input is invalid UTF-8.");
  }
  if (line === "") throw usageError("No password provided: pipe it into standard input or use a terminal.");
  if (/[\r\n]/.test(line)) throw usageError("Standard input must contain only one line, the password.");
  return line;
}
