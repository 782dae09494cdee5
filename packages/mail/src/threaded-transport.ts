/**
 * Composes and sends messages in a thread. In the thread of the service, this work would delay other responses for milliseconds, and
 * so reveal that a request has led to a mail.
 */
import { Worker } from "node:worker_threads";
import type { SMTPConnectionOptions } from "nodemailer";
import type { Message } from "./message.ts";
import { MailNotSent, type Transport } from "./smtp-transport.ts";

export interface ThreadSetup {
  readonly server: SMTPConnectionOptions;
  readonly from: string;
}

export interface ToThread {
  readonly id: number;
  readonly message: Message;
}

export interface ToTransport {
  readonly id: number;
  readonly failure: Pick<MailNotSent, "reason" | "isPermanent"> | null;
}

/** To dispose it ends the thread. Messages that are being sent then fail, although the server can have accepted them. */
export interface ThreadedTransport extends Transport, AsyncDisposable {}

interface Thread {
  send(message: Message): Promise<void>;
  close(): Promise<unknown>;
}

/** The thread does not keep the process alive. */
function startThread(setup: ThreadSetup, workerUrl: URL, onExit: () => void): Thread {
  const sendings = new Map<number, PromiseWithResolvers<void>>();
  let lastId = 0;
  const worker = new Worker(workerUrl, { workerData: setup });
  worker.on("message", ({ id, failure }: ToTransport) => {
    const sending = sendings.get(id);
    sendings.delete(id);
    if (failure) sending?.reject(new MailNotSent(failure.reason, failure.isPermanent));
    else sending?.resolve();
  });
  // Its text can name the recipient.
  worker.on("error", () => undefined);
  worker.on("exit", () => {
    onExit();
    for (const { reject } of sendings.values()) reject(new MailNotSent("the thread ended", false));
  });
  worker.unref();
  return {
    send(message) {
      lastId += 1;
      const sending = Promise.withResolvers<void>();
      sendings.set(lastId, sending);
      const request: ToThread = { id: lastId, message };
      worker.postMessage(request);
      return sending.promise;
    },
    close: () => worker.terminate(),
  };
}

/** Starts the thread without waiting for it. One that has ended is replaced at the next message: each waits for another attempt. */
export function openThreadedTransport(
  setup: ThreadSetup,
  workerUrl = new URL("./smtp-worker.ts", import.meta.url),
): ThreadedTransport {
  let thread: Thread | null = null;
  const running = (): Thread => {
    thread ??= startThread(setup, workerUrl, () => {
      thread = null;
    });
    return thread;
  };
  running();
  return {
    send: async (message) => running().send(message),
    [Symbol.asyncDispose]: async () => void (await thread?.close()),
  };
}
