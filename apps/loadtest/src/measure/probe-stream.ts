/**
 * Asks `/healthz` all along, in a thread of its own: there an answer that has come is not kept waiting by the load's answers,
 * which would look as if the service had been slow.
 */
import type { FromProbes } from "./probe-thread.ts";

export interface ProbeStream {
  /** Why the stream ended early; null if it did not. */
  stop(): Promise<string | null>;
}

/** Starts asking; `record` is called for each answer, some time after it. */
export function startProbeStream(url: string, record: (milliseconds: number) => void): ProbeStream {
  const thread = new Worker(new URL("./probe-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<string | null>();
  thread.onmessage = ({ data }: MessageEvent<FromProbes>) => {
    if ("failure" in data) ended.resolve(data.failure);
    else for (const milliseconds of data) record(milliseconds);
  };
  thread.onerror = ({ message }) => ended.resolve(message);
  thread.postMessage(url);
  return {
    async stop() {
      thread.postMessage("stop");
      const failure = await ended.promise;
      thread.terminate();
      return failure;
    },
  };
}
