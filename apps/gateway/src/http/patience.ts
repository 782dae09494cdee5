/** Standing in a queue is not idling: however long the wait, it does not cost a request its connection. */
import type { Server } from "bun";

interface Waiting {
  readonly request: Request;
  /** null where no socket is listened on. */
  readonly server: Pick<Server<unknown>, "timeout"> | null;
}

/** Runs what a request has to wait for, its body read by then, without an idle timeout; the answer ends the truce. */
export type Patience = <Result>(waiting: Waiting, work: () => Promise<Result>) => Promise<Result>;

/** @param idleTimeoutSeconds what holds for a connection before and after the wait */
export function createPatience(idleTimeoutSeconds: number): Patience {
  return async ({ request, server }, work) => {
    server?.timeout(request, 0);
    try {
      return await work();
    } finally {
      server?.timeout(request, idleTimeoutSeconds);
    }
  };
}
