/**
 * The thread of the probe stream: asks `/healthz` at a steady pace over one connection of its own, and tells how long each
 * answer took. First it is sent the service's URL; whatever it is sent then ends it with a `ProbesEnded`.
 */
import { connect } from "node:net";
import { connect as connectSecurely } from "node:tls";

const INTERVAL_MS = 5;
/** Told together, every 50 ms: to be told of each would take the other thread from the load. */
const TOLD_TOGETHER = 10;
/** How long the end waits for the last answer. */
const LAST_ANSWER_MS = 1000;

export interface ProbesEnded {
  /** Why the stream ended early; null if it did not. */
  readonly failure: string | null;
}

/** Milliseconds of some answers in their order, or the end. */
export type FromProbes = readonly number[] | ProbesEnded;

declare const self: Worker;

const tell = (message: FromProbes): void => self.postMessage(message);

let end: (() => Promise<void>) | null = null;
self.onmessage = ({ data }: MessageEvent<string>) => {
  if (end === null) end = startAsking(data);
  else void end();
};

/**
 * A probe that is late because the one before it was slow counts from when it was due, so that one stall is
 * not mistaken for one slow probe.
 */
function startAsking(url: string): () => Promise<void> {
  const { hostname, port, protocol, host } = new URL(url);
  const address = hostname.replace(/^\[|\]$/g, "");
  const isSecure = protocol === "https:";
  const target = { host: address, port: Number(port || (isSecure ? 443 : 80)) };
  const socket = isSecure ? connectSecurely({ ...target, servername: address }) : connect(target);
  const request = `GET /healthz HTTP/1.1\r\nHost: ${host}\r\n\r\n`;
  const decoder = new TextDecoder("latin1");
  let isStopping = false;
  let failure: string | null = null;
  let answered = Promise.withResolvers<void>();
  let received = "";
  let latencies: number[] = [];

  const tellLatencies = (): void => {
    tell(latencies);
    latencies = [];
  };
  const fail = (reason: string): void => {
    failure ??= reason;
    answered.resolve();
  };
  socket.on("data", (chunk: Uint8Array) => {
    received += decoder.decode(chunk);
    if (!isWhole(received)) return;
    if (!/^HTTP\/1\.1 200 /.test(received)) fail(`a probe was answered ${received.slice(9, 12)}`);
    received = "";
    answered.resolve();
  });
  socket.on("error", (error) => fail(error.message));
  socket.on("close", () => fail("the connection was closed"));

  const ask = async (): Promise<void> => {
    let due = performance.now();
    let freeAt = due;
    while (!isStopping && failure === null) {
      const early = due - performance.now();
      if (early > 0) await Bun.sleep(early);
      // A timer's own lateness is not the service's.
      const from = freeAt > due ? due : performance.now();
      answered = Promise.withResolvers();
      socket.write(request);
      await answered.promise;
      freeAt = performance.now();
      if (failure === null) latencies.push(freeAt - from);
      if (latencies.length === TOLD_TOGETHER) tellLatencies();
      due += INTERVAL_MS;
    }
  };
  const asking = ask();

  return async () => {
    isStopping = true;
    const timer = setTimeout(() => fail("the last probe was not answered"), LAST_ANSWER_MS);
    await asking;
    clearTimeout(timer);
    tellLatencies();
    tell({ failure });
    socket.destroy();
  };
}

/** Whether the head and as many bytes as it announces are there. */
function isWhole(received: string): boolean {
  const end = received.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(received)?.[1] ?? 0);
  return received.length >= end + 4 + length;
}
