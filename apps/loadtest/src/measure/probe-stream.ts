/**
 * Requests `/healthz` throughout a run, in a separate thread: on the main thread, handling the load's responses would delay
 * the probes' responses and make the service appear slow.
 */
import type { ProbeMessage } from "./probe-thread.ts";

/** @param record called for each response, with a delay */
export function startProbeStream(url: string, record: (milliseconds: number) => void) {
  const thread = new Worker(new URL("./probe-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<string | null>();
  thread.onmessage = ({ data }: MessageEvent<ProbeMessage>) => {
    if ("failure" in data) ended.resolve(data.failure);
    else for (const milliseconds of data) record(milliseconds);
  };
  thread.onerror = ({ message }) => ended.resolve(message);
  thread.postMessage(url);
  return {
    /** @returns why the probes ended early; null if they did not */
    async stop(): Promise<string | null> {
      thread.postMessage("stop");
      const failure = await ended.promise;
      thread.terminate();
      return failure;
    },
  };
}
