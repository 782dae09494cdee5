/** Requests `/healthz` in a thread of its own: on the main thread, the load would delay the probes. */
import type { MeasurementWindow } from "../load/loops.ts";
import type { ProbeOptions, ProbeResult } from "./probe-thread.ts";

/** Starts the probes. Measures only the responses that arrive in the window. */
export function startProbeStream(url: string, { from, to }: MeasurementWindow) {
  const thread = new Worker(new URL("./probe-thread.ts", import.meta.url));
  const ended = Promise.withResolvers<ProbeResult>();
  thread.onmessage = ({ data }: MessageEvent<ProbeResult>) => ended.resolve(data);
  thread.onerror = ({ message }) => ended.resolve({ latency: null, failure: message });
  const { timeOrigin } = performance;
  thread.postMessage({ url, from: timeOrigin + from, to: timeOrigin + to } satisfies ProbeOptions);
  return {
    async stop(): Promise<ProbeResult> {
      thread.postMessage("stop");
      const result = await ended.promise;
      thread.terminate();
      return result;
    },
  };
}
