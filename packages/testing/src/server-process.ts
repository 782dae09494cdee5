/** What the servers for tests share: a free port, an unprivileged user, and functions that wait for output or a response. */

/** `nobody` on Linux if this process is root, because some servers refuse to run as root; otherwise empty. */
export const UNPRIVILEGED: { readonly uid?: number; readonly gid?: number } =
  process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};

/** Reads and returns a program's output until it contains `text`; throws if the output ends before. */
export async function readUntil(output: ReadableStream<Uint8Array>, text: string): Promise<string> {
  let received = "";
  const decoder = new TextDecoder();
  const reader = output.getReader();
  while (!received.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The output ended without "${text}":\n${received}`);
    received += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return received;
}

/** Finds a free port of 127.0.0.1, for servers that cannot choose one themselves. */
export function freePort(): number {
  using listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  return listener.port;
}

/** Resolves once a GET request returns 2xx; throws if the program that shall respond exits before. */
export async function untilOk(url: string, program: Bun.Subprocess): Promise<void> {
  while (!(await fetch(url).catch(() => null))?.ok) {
    if (program.exitCode !== null) throw new Error(`The program exited with ${program.exitCode}`);
    await Bun.sleep(10);
  }
}
