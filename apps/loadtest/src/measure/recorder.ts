/**
 * Counts what was sent and what came, as it happens and in order of time. A request of an open loop is counted if its
 * intended start lies in the window, however late its answer; one of a closed loop if its answer does.
 */

import type { Answer, LoadRequest } from "../load/http-client.ts";
import { LatencyHistogram } from "./histogram.ts";
import type { Latency, OperationResult, Second } from "./results.ts";

/** What is counted, on the clock of `performance.now()`. */
export interface CountedWindow {
  readonly from: number;
  readonly to: number;
}

export interface Exchange {
  readonly request: LoadRequest;
  /** From which the latency counts: the intended start, or that of sending. */
  readonly due: number;
}

class Operation {
  readonly statuses: Record<string, number> = {};
  readonly latency = new LatencyHistogram();
  sent = 0;
  errors = 0;
  /** Expected answers that came within the window, of whatever start. */
  answeredWithin = 0;

  result(seconds: number): OperationResult {
    return {
      sent: this.sent,
      statuses: { ...this.statuses },
      errors: this.errors,
      perSecond: seconds > 0 ? Math.round((100 * this.answeredWithin) / seconds) / 100 : 0,
      latency: this.latency.summary(),
    };
  }

  add({ statuses, latency, sent, errors, answeredWithin }: Operation): void {
    for (const [status, count] of Object.entries(statuses))
      this.statuses[status] = (this.statuses[status] ?? 0) + count;
    this.latency.add(latency);
    this.sent += sent;
    this.errors += errors;
    this.answeredWithin += answeredWithin;
  }
}

export class Recorder {
  readonly #window: CountedWindow;
  readonly #isOpenLoop: boolean;
  readonly #operations = new Map<string, Operation>();
  readonly #lateness = new LatencyHistogram();
  readonly #probe = new LatencyHistogram();
  readonly #seconds: Omit<Second, "offered">[] = [];
  /** By second, since a late request was offered in the one in which it was due. */
  readonly #offered: number[] = [];
  readonly #latencyNow = new LatencyHistogram();
  readonly #probeNow = new LatencyHistogram();
  #now = { answered: 0, errors: 0 };
  #sentInTime = 0;
  #hasEnded = false;
  /** Codes of what broke on the way, such as `EMFILE`. */
  readonly faults = new Set<string>();

  constructor(window: CountedWindow, loop: "open" | "closed") {
    this.#window = window;
    this.#isOpenLoop = loop === "open";
  }

  /** To be called at the moment of sending. */
  sent({ request, due }: Exchange): void {
    const at = performance.now();
    if (this.#hasEnded || !this.#isWithin(due)) return;
    const second = Math.floor((due - this.#window.from) / 1000);
    this.#offered[second] = (this.#offered[second] ?? 0) + 1;
    if (!this.#isOpenLoop) return;
    this.#of(request).sent += 1;
    this.#lateness.record(at - due);
    if (this.#isWithin(at)) this.#sentInTime += 1;
  }

  /** To be called at the moment of the answer. */
  answered({ request, due }: Exchange, { status, fault }: Answer): void {
    const at = performance.now();
    if (this.#hasEnded) return;
    const cameWithin = this.#isWithin(at);
    const isCounted = this.#isOpenLoop ? this.#isWithin(due) : cameWithin;
    const isExpected = status === String(request.expected);
    if (fault !== null) this.faults.add(fault);
    const operation = this.#of(request);
    if (isCounted) {
      if (!this.#isOpenLoop) operation.sent += 1;
      operation.statuses[status] = (operation.statuses[status] ?? 0) + 1;
      if (isExpected) operation.latency.record(at - due);
      else operation.errors += 1;
    }
    if (!cameWithin) return;
    this.#advance(at);
    if (!isExpected) {
      this.#now.errors += 1;
      return;
    }
    operation.answeredWithin += 1;
    this.#now.answered += 1;
    this.#latencyNow.record(at - due);
  }

  probed(milliseconds: number): void {
    const at = performance.now();
    if (this.#hasEnded || !this.#isWithin(at)) return;
    this.#advance(at);
    this.#probe.record(milliseconds);
    this.#probeNow.record(milliseconds);
  }

  /** The seconds that are over. */
  seconds(): readonly Second[] {
    if (!this.#hasEnded) this.#advance(Math.min(performance.now(), this.#window.to));
    return this.#seconds.map((second, index) => ({ offered: this.#offered[index] ?? 0, ...second }));
  }

  /**
   * Nothing counts any more; a second that was cut short is one too.
   * @param at when it ended, within the window or beyond
   * @returns how many seconds were counted
   */
  end(at: number): number {
    const { from, to } = this.#window;
    const endedAt = Math.max(from, Math.min(at, to));
    this.#advance(endedAt);
    if (endedAt > from + 1000 * this.#seconds.length) this.#closeSecond();
    this.#hasEnded = true;
    return Math.round(endedAt - from) / 1000;
  }

  /** @param seconds how long was counted */
  result(seconds: number) {
    const all = new Operation();
    for (const operation of this.#operations.values()) all.add(operation);
    const operations = [...this.#operations].map(
      ([name, operation]) => [name, operation.result(seconds)] as const,
    );
    return { all: all.result(seconds), operations: Object.fromEntries(operations) };
  }

  get probe(): Latency | null {
    return this.#probe.summary();
  }

  get lateness(): Latency | null {
    return this.#isOpenLoop ? this.#lateness.summary() : null;
  }

  /** Of the requests that were due within the window, those that were sent within it, from 0 to 1. */
  get sentShare(): number {
    const due = this.#lateness.count;
    return due === 0 ? 1 : this.#sentInTime / due;
  }

  #isWithin(at: number): boolean {
    return at >= this.#window.from && at < this.#window.to;
  }

  #of({ operation: name }: LoadRequest): Operation {
    const known = this.#operations.get(name) ?? new Operation();
    this.#operations.set(name, known);
    return known;
  }

  /** Closes every second that has ended before `at`. */
  #advance(at: number): void {
    while (at >= this.#window.from + 1000 * (this.#seconds.length + 1)) this.#closeSecond();
  }

  #closeSecond(): void {
    this.#seconds.push({
      second: this.#seconds.length,
      ...this.#now,
      p50: this.#latencyNow.percentile(50),
      p99: this.#latencyNow.percentile(99),
      probeP99: this.#probeNow.percentile(99),
    });
    this.#now = { answered: 0, errors: 0 };
    this.#latencyNow.reset();
    this.#probeNow.reset();
  }
}
