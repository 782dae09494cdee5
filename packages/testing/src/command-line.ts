/** Runs command-line programs in the process of a test, or on a terminal. */
import { spyOn } from "bun:test";
import { Readable } from "node:stream";

/** As large as the buffer of a pipe. */
const CHUNK_BYTES = 65_536;

/** Replaces standard input by this content, which is not a terminal, until it is disposed. */
function replaceInput(input: string | Uint8Array): Disposable {
  const bytes = Buffer.from(input);
  const chunks = function* () {
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
  };
  const original = Object.getOwnPropertyDescriptor(process, "stdin") ?? {};
  Object.defineProperty(process, "stdin", { value: Readable.from(chunks()), configurable: true });
  return { [Symbol.dispose]: () => Object.defineProperty(process, "stdin", original) };
}

/**
 * Captures the output of this process until `run` returns an exit code. Calls must not overlap.
 * @param input content of standard input. @default that of this process
 */
export async function captureOutput(run: () => Promise<number>, input?: string | Uint8Array) {
  using _replaced = input === undefined ? null : replaceInput(input);
  const output = { stdout: "", stderr: "" };
  const spies = (["stdout", "stderr"] as const).map((name) =>
    spyOn(process[name], "write").mockImplementation((text, done) => {
      output[name] += text;
      if (typeof done === "function") done();
      return true;
    }),
  );
  try {
    return { code: await run(), ...output };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

interface TerminalOptions extends Bun.Spawn.BaseOptions<"pipe", "pipe", "pipe"> {
  readonly cols: number;
}

/** Starts a program on a terminal. */
export function startOnTerminal(command: readonly string[], { cols, ...options }: TerminalOptions) {
  let output = "";
  let seen = 0;
  let onOutput = () => {};
  const decoder = new TextDecoder();
  const child = Bun.spawn([...command], {
    ...options,
    terminal: {
      cols,
      rows: 40,
      data(_, bytes) {
        output += decoder.decode(bytes, { stream: true });
        onOutput();
      },
    },
  });
  return {
    /** Resolves when the terminal displays this text after that of the previous call; rejects if the program exits instead. */
    printed(text: string): Promise<void> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      onOutput = () => {
        const at = output.indexOf(text, seen);
        if (at === -1) return;
        seen = at + text.length;
        onOutput = () => {};
        resolve();
      };
      onOutput();
      void child.exited.then((code) => reject(new Error(`It exited with ${code}: ${output}`)));
      return promise;
    },
    type: (keys: string) => child.terminal?.write(keys),
    /** `output` includes the echo. */
    ended: async () => ({ code: await child.exited, output }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}
