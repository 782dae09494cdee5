/** The entry point of the thread of `threaded-transport.ts`. */
import { parentPort, workerData } from "node:worker_threads";
import { openSmtpTransport, toMailError } from "./smtp-transport.ts";
import type { ThreadSetup, ToThread, ToTransport } from "./threaded-transport.ts";

if (!parentPort) throw new Error("smtp-worker.ts must be started as a worker thread");
const port = parentPort;
const { server, from }: ThreadSetup = workerData;
const opening = openSmtpTransport(server, from);

const send = async ({ id, message }: ToThread): Promise<ToTransport> => {
  try {
    await (await opening).send(message);
    return { id, failure: null };
  } catch (error) {
    // An error that is cloned into another thread loses its class.
    const { reason, isPermanent } = toMailError(error);
    return { id, failure: { reason, isPermanent } };
  }
};

port.on("message", async (message: ToThread) => port.postMessage(await send(message)));
