/**
 * The requests that wait for an event. Invariants: while requests wait, the database is asked once per interval, whatever their
 * number; and every request ends with its time, with its connection, with an error of the database, and with the service.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceError } from "../../errors.ts";

interface WaitingReadersOptions<State> {
  /** Reads whether there is an event. */
  readonly readState: () => Promise<State>;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
  /** Called with the number of waiting requests after each change. */
  readonly observe?: ((waiting: number) => void) | undefined;
  /** Time between two reads. @default 250 */
  readonly pollMs?: number;
}

interface WaitOptions<State> {
  readonly waitMs: number;
  /** Aborted when the client closes the connection. */
  readonly signal: AbortSignal;
  /** Whether the request has something to read. */
  readonly isReady: (state: State) => boolean;
}

interface Reader<State> {
  readonly isReady: (state: State) => boolean;
  readonly resolve: (state: State | null) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Resolves with the state for which `isReady` returns true, or with null after `waitMs` or when the service stops.
 * @throws TOO_MANY_READERS, an error of `readState`, or the reason of the signal
 */
export type WaitForState<State> = (options: WaitOptions<State>) => Promise<State | null>;

/** Each takes a connection. */
const MAX_READERS = 100;

export function createWaitingReaders<State>(options: WaitingReadersOptions<State>): WaitForState<State> {
  const { readState, stopping, observe = () => {}, pollMs = 250 } = options;
  const readers = new Set<Reader<State>>();
  let isPolling = false;

  const poll = async (): Promise<void> => {
    isPolling = true;
    for (;;) {
      await sleep(pollMs);
      if (readers.size === 0) break;
      // A request that begins to wait during the query can have read a later state.
      const asked = [...readers];
      try {
        const state = await readState();
        for (const reader of asked) if (reader.isReady(state)) reader.resolve(state);
      } catch (error) {
        for (const reader of asked) reader.reject(error);
      }
    }
    isPolling = false;
  };

  return async ({ waitMs, signal, isReady }) => {
    if (stopping.aborted) return null;
    signal.throwIfAborted();
    if (readers.size >= MAX_READERS) throw new ServiceError("TOO_MANY_READERS");
    const { promise, resolve, reject } = Promise.withResolvers<State | null>();
    const reader = { isReady, resolve, reject };
    const end = (): void => resolve(null);
    const abandon = (): void => reject(signal.reason);
    const timer = setTimeout(end, waitMs);
    stopping.addEventListener("abort", end);
    signal.addEventListener("abort", abandon);
    readers.add(reader);
    observe(readers.size);
    if (!isPolling) void poll();
    try {
      return await promise;
    } finally {
      readers.delete(reader);
      clearTimeout(timer);
      stopping.removeEventListener("abort", end);
      signal.removeEventListener("abort", abandon);
      observe(readers.size);
    }
  };
}
