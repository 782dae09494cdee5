/** Runs a program to its end. */

type ProcessOptions = Bun.Spawn.BaseOptions<Bun.Spawn.Writable, "pipe", "pipe">;

/** By default, standard input is empty. */
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
