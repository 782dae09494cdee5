/**
 * Counts requests and responses, by operation and by second. A request of an open loop is counted if the intended start is in the
 * window, regardless of when the response arrives. A request of a closed loop is counted if the response arrives in the window.
 */
import type { LoadRequest, ResponseStatus } from "../load/http-client.ts";
import type { Exchange, MeasurementWindow } from "../load/loops.ts";
import { type Latency, LatencyHistogram } from "./histogram.ts";

/** The result of one operation, such as `login`. */
export type OperationResult = ReturnType<Operation["result"]>;

/** The figures of one second of the run. */
export interface Second {
  /** Seconds since the beginning of the measurement. */
  readonly second: number;
  /** Number of intended starts in this second. */
  readonly offered: number;
  /** Expected responses that arrived in this second, whenever their requests were sent. `p50` and `p99` describe them. */
  readonly answered: number;
  readonly errors: number;
  readonly p50: number | null;
  readonly p99: number | null;
}

const increment = (counts: Record<string, number>, name: string): void => {
  counts[name] = (counts[name] ?? 0) + 1;
};

class Operation {
  readonly statuses: Record<string, number> = {};
  readonly connectionErrors: Record<string, number> = {};
  readonly latency = new LatencyHistogram();
  sent = 0;
  errors = 0;
  /** Number of expected responses that arrived in the window, including responses to requests that are not counted. */
  completedInWindow = 0;

  result(seconds: number) {
    return {
      sent: this.sent,
      /** Number of responses by status; `none` if the connection failed or the timeout expired. */
      statuses: { ...this.statuses },
      /** Requests with the status `none` by connection error: see `ResponseStatus`. */
      connectionErrors: { ...this.connectionErrors },
      /** Number of requests without a response or with an unexpected status. The 401 for a wrong password is expected. */
      errors: this.errors,
      /** Number of expected responses per second of the measured duration. */
      perSecond: seconds > 0 ? Math.round((100 * this.completedInWindow) / seconds) / 100 : 0,
      /** Latency of expected responses, from the intended start (open loop) or from sending (closed loop); null without any. */
      latency: this.latency.summary(),
    };
  }
}

export class Recorder {
  readonly #window: MeasurementWindow;
  readonly #isOpenLoop: boolean;
  readonly #all = new Operation();
  readonly #operations = new Map<string, Operation>();
  readonly #lateness = new LatencyHistogram();
  readonly #seconds: Omit<Second, "offered">[] = [];
  /** Number of requests by the second of `due`. Not part of `#seconds`, because a late request can be sent after that second. */
  readonly #offered: number[] = [];
  #current = { errors: 0, latency: new LatencyHistogram() };
  #hasEnded = false;

  constructor(window: MeasurementWindow, loop: "open" | "closed") {
    this.#window = window;
    this.#isOpenLoop = loop === "open";
  }

  /** Call when the request is sent. */
  sent({ request, due }: Exchange): void {
    const at = performance.now();
    if (this.#hasEnded || !this.#isInWindow(due)) return;
    const second = Math.floor((due - this.#window.from) / 1000);
    this.#offered[second] = (this.#offered[second] ?? 0) + 1;
    if (!this.#isOpenLoop) return;
    for (const operation of this.#operationsOf(request)) operation.sent += 1;
    this.#lateness.record(at - due);
  }

  /** Call when the response is complete. */
  completed({ request, due }: Exchange, { status, connectionError }: ResponseStatus): void {
    const at = performance.now();
    if (this.#hasEnded) return;
    const isInWindow = this.#isInWindow(at);
    const isCounted = this.#isOpenLoop ? this.#isInWindow(due) : isInWindow;
    const isExpected = status === String(request.expected);
    for (const operation of this.#operationsOf(request)) {
      if (isInWindow && isExpected) operation.completedInWindow += 1;
      if (!isCounted) continue;
      if (!this.#isOpenLoop) operation.sent += 1;
      increment(operation.statuses, status);
      if (connectionError !== null) increment(operation.connectionErrors, connectionError);
      if (isExpected) operation.latency.record(at - due);
      else operation.errors += 1;
    }
    if (!isInWindow) return;
    this.#advance(at);
    if (isExpected) this.#current.latency.record(at - due);
    else this.#current.errors += 1;
  }

  /** Returns the seconds that have ended. */
  seconds(): readonly Second[] {
    if (!this.#hasEnded) this.#advance(Math.min(performance.now(), this.#window.to));
    return this.#seconds.map((second, index) => ({ offered: this.#offered[index] ?? 0, ...second }));
  }

  /**
   * Ends the measurement. An incomplete last second is added to the seconds.
   * @param at the end of the run, which can be after the window
   * @returns the measured duration in seconds
   */
  end(at: number): number {
    const { from, to } = this.#window;
    const endedAt = Math.max(from, Math.min(at, to));
    this.#advance(endedAt);
    if (endedAt > from + 1000 * this.#seconds.length) this.#closeSecond();
    this.#hasEnded = true;
    return Math.round(endedAt - from) / 1000;
  }

  /** @param seconds the measured duration */
  result(seconds: number) {
    const operations: Record<string, OperationResult> = {};
    for (const [name, operation] of this.#operations) operations[name] = operation.result(seconds);
    return { all: this.#all.result(seconds), operations };
  }

  get lateness(): Latency | null {
    return this.#isOpenLoop ? this.#lateness.summary() : null;
  }

  #isInWindow(at: number): boolean {
    return at >= this.#window.from && at < this.#window.to;
  }

  /** Returns the counters of the request's operation and the counters of all operations together. */
  #operationsOf({ operation: name }: LoadRequest): readonly Operation[] {
    const own = this.#operations.get(name) ?? new Operation();
    this.#operations.set(name, own);
    return [own, this.#all];
  }

  /** Closes every second that has ended by `at`. */
  #advance(at: number): void {
    while (at >= this.#window.from + 1000 * (this.#seconds.length + 1)) this.#closeSecond();
  }

  #closeSecond(): void {
    const { errors, latency } = this.#current;
    const { count: answered, p50, p99 } = latency.summary() ?? { count: 0, p50: null, p99: null };
    this.#seconds.push({ second: this.#seconds.length, answered, errors, p50, p99 });
    this.#current = { errors: 0, latency: new LatencyHistogram() };
  }
}
