/**
 * The thread of the probe stream: requests `/healthz` at a constant rate and posts the latencies. The first message it receives
 * is the URL of the service, the second one ends it.
 */
import { createHttpClient, type HttpClient, type LoadRequest } from "../load/http-client.ts";

const INTERVAL_MS = 5;
/** Latencies per message, one message every 50 ms: more messages would take CPU time from the load. */
const BATCH_SIZE = 10;
/** Longer than any stall that a run can measure. */
const TIMEOUT_MS = 600_000;
const LAST_RESPONSE_TIMEOUT_MS = 1000;

/** Latencies in milliseconds, in order; or the end, with the reason if the probes ended early. */
export type ProbeMessage = readonly number[] | { readonly failure: string | null };

declare const self: Worker;

const post = (message: ProbeMessage): void => self.postMessage(message);

const PROBE: LoadRequest = {
  ...{ operation: "probe", method: "GET", path: "/healthz", headers: {}, body: null, expected: 200 },
};

let client: HttpClient | null = null;
let isStopping = false;
self.onmessage = ({ data }: MessageEvent<string>) => {
  isStopping = client !== null;
  if (isStopping) {
    setTimeout(() => client?.close(), LAST_RESPONSE_TIMEOUT_MS);
    return;
  }
  client = createHttpClient(data, TIMEOUT_MS);
  void probe(client);
};

/** A probe delayed by the previous response counts from its intended start, so that a stall affects all probes in it. */
async function probe({ send }: HttpClient): Promise<void> {
  let failure: string | null = null;
  let latencies: number[] = [];
  let due = performance.now();
  let readyAt = due;
  while (!isStopping && failure === null) {
    const waitMs = due - performance.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    // The lateness of the timer is not part of the latency.
    const from = readyAt > due ? due : performance.now();
    const { status, connectionError } = await send(PROBE);
    readyAt = performance.now();
    if (status === "200") latencies.push(readyAt - from);
    else
      failure = connectionError === null ? `a probe returned ${status}` : `no response (${connectionError})`;
    if (latencies.length === BATCH_SIZE) {
      post(latencies);
      latencies = [];
    }
    due += INTERVAL_MS;
  }
  post(latencies);
  post({ failure });
}
