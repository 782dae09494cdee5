/** Requests `/healthz` in a thread of its own: on the main thread, the load would delay the probes. */
import type { MeasurementWindow } from "../load/loops.ts";
import type { ProbeMessage, ProbeOptions, ProbeResult } from "./probe-thread.ts";

/** Starts the thread, before a run: on a busy machine, that takes longer than a short run. */
export async function openProbeStream() {
  const thread = new Worker(new URL("./probe-thread.ts", import.meta.url));
  const ready = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<ProbeResult>();
  thread.onmessage = ({ data }: MessageEvent<ProbeMessage>) =>
    data === "ready" ? ready.resolve() : ended.resolve(data);
  thread.onerror = ({ message }) => {
    ready.resolve();
    ended.resolve({ latency: null, failure: message });
  };
  await ready.promise;
  return {
    /** Measures only the responses that arrive in the window. */
    start(url: string, { from, to }: MeasurementWindow): void {
      const { timeOrigin } = performance;
      thread.postMessage({ url, from: timeOrigin + from, to: timeOrigin + to } satisfies ProbeOptions);
    },
    async stop(): Promise<ProbeResult> {
      thread.postMessage("stop");
      const result = await ended.promise;
      thread.terminate();
      return result;
    },
  };
}
