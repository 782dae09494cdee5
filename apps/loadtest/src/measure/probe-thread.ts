/**
 * The thread of the probe stream requests `/healthz` at a constant rate. It posts `ready` when it has started. The first message
 * to the thread contains the options; the second message ends the probes. The thread posts the result when the probes have ended.
 */
import { createHttpClient, type HttpClient, type LoadRequest } from "../load/http-client.ts";
import type { MeasurementWindow } from "../load/loops.ts";
import { type Latency, LatencyHistogram } from "./histogram.ts";

const INTERVAL_MS = 5;
/** Longer than any stall that a run can measure. */
const TIMEOUT_MS = 600_000;
const LAST_RESPONSE_TIMEOUT_MS = 1000;

/** The window is in milliseconds since the epoch. */
export type ProbeOptions = MeasurementWindow & { readonly url: string };

export interface ProbeResult {
  /** Null if no response arrived in the window. */
  readonly latency: Latency | null;
  /** The reason why the probes ended early; null if the probes did not end early. */
  readonly failure: string | null;
}

/** The thread has started, or the probes have ended. */
export type ProbeMessage = "ready" | ProbeResult;

declare const self: Worker;

const PROBE: LoadRequest = {
  operation: "probe",
  method: "GET",
  path: "/healthz",
  headers: {},
  body: null,
  expected: 200,
};

let client: HttpClient | null = null;
let isStopping = false;
self.onmessage = async ({ data }: MessageEvent<ProbeOptions>) => {
  isStopping = client !== null;
  if (isStopping) {
    setTimeout(() => client?.close(), LAST_RESPONSE_TIMEOUT_MS);
    return;
  }
  client = createHttpClient(data.url, TIMEOUT_MS);
  self.postMessage(await probe(client, data));
};

self.postMessage("ready" satisfies ProbeMessage);

/** If the previous response delays a probe, latency counts from the intended start: a stall affects all probes due in it. */
async function probe({ send }: HttpClient, { from, to }: MeasurementWindow): Promise<ProbeResult> {
  const latency = new LatencyHistogram();
  let failure: string | null = null;
  let due = performance.now();
  let readyAt = due;
  while (!isStopping && failure === null) {
    const waitMs = due - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    // After a wait, the latency counts from sending, to exclude the lateness of the timer.
    const sentAt = readyAt > due ? due : performance.now();
    const { status, connectionError } = await send(PROBE);
    readyAt = performance.now();
    const time = performance.timeOrigin + readyAt;
    if (status !== "200")
      failure = connectionError === null ? `a probe returned ${status}` : `no response (${connectionError})`;
    else if (time >= from && time < to) latency.record(readyAt - sentAt);
    due += INTERVAL_MS;
  }
  return { latency: latency.summary(), failure };
}
