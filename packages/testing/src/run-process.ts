/** Runs a program to its end. */

interface ProcessOptions {
  readonly cwd?: string;
  /** All variables. @default those of this process */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Standard input. @default empty */
  readonly stdin?: Uint8Array | ReadableStream;
  readonly uid?: number;
  readonly gid?: number;
}

export async function runProcess(command: readonly string[], options: ProcessOptions = {}) {
  await using child = Bun.spawn([...command], {
    stdin: "ignore",
    ...options,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}
