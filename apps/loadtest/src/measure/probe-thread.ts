/**
 * The thread of the probe stream: requests `/healthz` at a constant rate over one connection and posts the latencies. The
 * first message it receives is the URL of the service, the second one ends it.
 */
import { connect } from "node:net";
import { connect as connectTls } from "node:tls";

const INTERVAL_MS = 5;
/** Latencies per message, one message every 50 ms: more messages would take CPU time from the load. */
const BATCH_SIZE = 10;
const LAST_RESPONSE_TIMEOUT_MS = 1000;

/** Latencies in milliseconds, in order; or the end, with the reason if the probes ended early. */
export type ProbeMessage = readonly number[] | { readonly failure: string | null };

declare const self: Worker;

const post = (message: ProbeMessage): void => self.postMessage(message);

let stop: (() => Promise<void>) | null = null;
self.onmessage = ({ data }: MessageEvent<string>) => {
  if (stop === null) stop = startProbes(data);
  else void stop();
};

/** A probe delayed by the previous response counts from its intended start, so that a stall affects all probes in it. */
function startProbes(url: string): () => Promise<void> {
  const { hostname, port, protocol, host } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  const isSecure = protocol === "https:";
  const target = { host: address, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure ? connectTls({ ...target, servername: address }) : connect(target);
  const request = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const decoder = new TextDecoder("latin1");
  let isStopping = false;
  let failure: string | null = null;
  let response = Promise.withResolvers<void>();
  let received = "";
  let latencies: number[] = [];

  const postLatencies = (): void => {
    post(latencies);
    latencies = [];
  };
  const fail = (reason: string): void => {
    failure ??= reason;
    response.resolve();
  };
  socket.on("data", (chunk: Uint8Array) => {
    received += decoder.decode(chunk);
    if (!isComplete(received)) return;
    if (!/^HTTP\/1\.1 200 /.test(received)) fail(`a probe returned ${received.slice(9, 12)}`);
    received = "";
    response.resolve();
  });
  socket.on("error", (error) => fail(error.message));
  socket.on("close", () => fail("the connection was closed"));

  const probe = async (): Promise<void> => {
    let due = performance.now();
    let readyAt = due;
    while (!isStopping && failure === null) {
      const waitMs = due - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      // The lateness of the timer is not part of the latency.
      const from = readyAt > due ? due : performance.now();
      response = Promise.withResolvers();
      socket.write(request);
      await response.promise;
      readyAt = performance.now();
      if (failure === null) latencies.push(readyAt - from);
      if (latencies.length === BATCH_SIZE) postLatencies();
      due += INTERVAL_MS;
    }
  };
  const probing = probe();

  return async () => {
    isStopping = true;
    const timer = setTimeout(() => fail("the last probe timed out"), LAST_RESPONSE_TIMEOUT_MS);
    await probing;
    clearTimeout(timer);
    postLatencies();
    post({ failure });
    socket.destroy();
  };
}

/** Whether the head and the announced number of bytes were received. */
function isComplete(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
  return received.length >= end + 4 + length;
}
