/**
 * Requests `/healthz` in a separate thread throughout a run. On the main thread, the responses to the load would delay the
 * responses to the probes, and the service would appear slow.
 */
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
