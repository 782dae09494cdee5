/** Reads a password from a terminal without echo, or from one line of standard input; never from the command line. */
import { isUtf8 } from "node:buffer";
import { CliError, EXIT, isTerminal, openLineReader, usageError, writeError } from "@latchkey/cli";
import { PASSWORD_MAX_LENGTH } from "@latchkey/contracts";

/** A code point has at most four bytes in UTF-8, and a line ending has at most two bytes. */
const MAX_PASSWORD_BYTES = 4 * PASSWORD_MAX_LENGTH + 2;

type Parse = (text: string) => string;

/**
 * On a terminal, prompts until a password is valid, then prompts for the same password again. Otherwise, reads standard input,
 * which must contain exactly one line.
 * @param parse throws a `CliError` with exit code 64 for an invalid password
 * @throws {CliError} with exit code 64 for a missing, invalid or mistyped password, 130 for Ctrl-C
 */
export async function readPassword(parse: Parse): Promise<string> {
  if (!isTerminal()) return parse(await readPipedLine());
  using reader = openLineReader({ echo: false });
  const password = await askPassword(reader, parse);
  if ((await reader.ask("Repeat password: ")) !== password) throw usageError("The passwords do not match.");
  return password;
}

async function askPassword(reader: ReturnType<typeof openLineReader>, parse: Parse): Promise<string> {
  try {
    return parse(await reader.ask("Password: "));
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.usage || reader.hasEnded()) throw error;
    writeError(`${error.message}\n`);
    return askPassword(reader, parse);
  }
}

async function readPipedLine(): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    bytes += chunk.length;
    // Stops reading, because the input can be endless.
    if (bytes > MAX_PASSWORD_BYTES) throw usageError("Standard input is too long for a password.");
    chunks.push(chunk);
  }
  const input = Buffer.concat(chunks);
  if (!isUtf8(input)) throw usageError("The password on standard input is invalid UTF-8.");
  const line = new TextDecoder().decode(input).replace(/\r?\n$/, "");
  if (line === "") throw usageError("No password provided: pipe it into standard input or use a terminal.");
  if (/[\r\n]/.test(line)) throw usageError("Standard input must contain the password once, in one line.");
  return line;
}
