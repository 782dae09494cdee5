/**
 * What is asked of whoever is there: passwords, and whether they are sure. Questions go to standard error, so that
 * standard output holds results alone. A password is read without echo, and never from the command line.
 */
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { PASSWORD_MAX_LENGTH } from "@latchkey/contracts";
import { Declined, Interrupted, UsageError } from "./failures.ts";
import { parsePassword } from "./people.ts";

/** UTF-8 takes four bytes for a code point at most; two more end the line. */
const MAX_PASSWORD_BYTES = 4 * PASSWORD_MAX_LENGTH + 2;

const isTerminal = (): boolean => process.stdin.isTTY === true;

/**
 * On a terminal it is typed twice; otherwise it is the one line that standard input holds.
 * @throws UsageError if it is out of bounds, not there, or typed differently the second time
 * @throws Interrupted
 */
export async function readPassword(): Promise<string> {
  if (!isTerminal()) return parsePassword(await readPipedLine());
  using typist = openTypist({ echo: false });
  const password = parsePassword(await typist.ask("Password: "));
  if ((await typist.ask("The same again: ")) !== password) throw new UsageError("The two passwords differ.");
  return password;
}

/**
 * @throws Declined unless the answer is yes
 * @throws UsageError where nobody can be asked
 * @throws Interrupted
 */
export async function confirm(question: string): Promise<void> {
  if (!isTerminal()) throw new UsageError("Nobody can be asked here whether that is meant: add --yes.");
  using typist = openTypist({ echo: true });
  if (!/^y(es)?$/i.test((await typist.ask(`${question} [y/N] `)).trim()))
    throw new Declined("Nothing was changed.");
}

interface Typist extends Disposable {
  ask(question: string): Promise<string>;
}

/** The terminal's own line editing; what is typed ahead of a question answers it. */
function openTypist({ echo }: { readonly echo: boolean }): Typist {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = echo ? process.stderr : nowhere;
  const keyboard = createInterface({ input: process.stdin, output, terminal: true, historySize: 0 });
  const lines = keyboard[Symbol.asyncIterator]();
  let isInterrupted = false;
  keyboard.on("SIGINT", () => {
    isInterrupted = true;
    keyboard.close();
  });
  return {
    async ask(question) {
      if (echo) keyboard.setPrompt(question);
      if (echo) keyboard.prompt();
      else process.stderr.write(question);
      const line = await lines.next();
      if (!echo || line.done) process.stderr.write("\n");
      if (isInterrupted) throw new Interrupted();
      return line.done ? "" : line.value;
    },
    [Symbol.dispose]: () => keyboard.close(),
  };
}

async function readPipedLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    // Read no further: the input may have no end.
    if (bytes > MAX_PASSWORD_BYTES) throw new UsageError("Standard input is too long to be a password.");
    chunks.push(chunk);
  }
  const line = decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  if (line === "") throw new UsageError("No password came: pipe it into standard input, or use a terminal.");
  if (/[\r\n]/.test(line)) throw new UsageError("Standard input must hold the password as its only line.");
  return line;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new UsageError("The password on standard input is not UTF-8.");
  }
}
