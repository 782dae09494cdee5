/** Waits for a line of a program's output, for programs that log when they are ready. */

/** Reads a program's output until it contains `text`; throws if the output ends before. */
export async function readUntil(output: ReadableStream<Uint8Array>, text: string): Promise<void> {
  let received = "";
  const decoder = new TextDecoder();
  const reader = output.getReader();
  while (!received.includes(text)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The output ended without "${text}":\n${received}`);
    received += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
}
