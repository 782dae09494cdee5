/**
 * One simulated hash worker. All busy lanes advance alike, so a login's end is known when it enters: once the worker's
 * progress has grown by one login. Those in it are therefore in the order of their ends, which is that of their arrivals.
 */
import type { ServiceModel } from "./service-model.ts";

/** Rounding errors of the progress stay far below it; it is far below one slice's progress. */
const ROUNDING = 1e-9;

export class Worker {
  readonly #laneMs: readonly number[];
  readonly #sliceMs: number;
  /** Arrival's index of each login in it, in order; the first `#busy` are in lanes, the others enter with the next slice. */
  readonly #logins: number[] = [];
  /** Progress at which each of those in lanes is done. */
  readonly #ends: number[] = [];
  /** Logins that one lane has done since the beginning. */
  #progress = 0;
  #sliceBeganMs = 0;
  #sliceEndMs = Number.POSITIVE_INFINITY;

  constructor({ laneMs, sliceMs }: Pick<ServiceModel, "laneMs" | "sliceMs">) {
    this.#laneMs = laneMs;
    this.#sliceMs = sliceMs;
  }

  /** When its slice ends; Infinity while it is idle. */
  get sliceEndMs(): number {
    return this.#sliceEndMs;
  }

  get held(): number {
    return this.#logins.length;
  }

  get hasRoom(): boolean {
    return this.held < this.#laneMs.length;
  }

  /** Needs room. An idle worker starts at once, a busy one with its next slice. */
  take(login: number, nowMs: number): void {
    this.#logins.push(login);
    const isIdle = this.#ends.length === 0;
    if (isIdle) this.beginSlice(nowMs);
    else if (this.#sliceMs === 0) {
      this.#advance(nowMs);
      this.beginSlice(nowMs);
    }
  }

  /** Ends the slice at its time and gives the logins that are done. The next one is to be begun once lanes are filled. */
  endSlice(): number[] {
    this.#advance(this.#sliceEndMs);
    let done = 0;
    while ((this.#ends[done] ?? Number.POSITIVE_INFINITY) <= this.#progress + ROUNDING) done += 1;
    if (done === 0) return [];
    this.#ends.splice(0, done);
    return this.#logins.splice(0, done);
  }

  /** Fills a lane that a login has just left, before the next slice begins. */
  refill(login: number): void {
    this.#logins.push(login);
  }

  /** Puts all that it holds into lanes; the slice ends early when the first of them is done. */
  beginSlice(nowMs: number): void {
    while (this.#ends.length < this.#logins.length) this.#ends.push(this.#progress + 1);
    const [first] = this.#ends;
    this.#sliceBeganMs = nowMs;
    if (first === undefined) this.#sliceEndMs = Number.POSITIVE_INFINITY;
    else {
      const untilDoneMs = (first - this.#progress) * this.#loginMs();
      this.#sliceEndMs = nowMs + (this.#sliceMs === 0 ? untilDoneMs : Math.min(this.#sliceMs, untilDoneMs));
    }
  }

  #advance(nowMs: number): void {
    this.#progress += (nowMs - this.#sliceBeganMs) / this.#loginMs();
  }

  #loginMs(): number {
    return this.#laneMs[this.#ends.length - 1] ?? Number.POSITIVE_INFINITY;
  }
}
