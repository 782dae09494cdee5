/**
 * One simulated hash worker. All busy lanes advance at the same speed, so the completion of a login is known when it enters a
 * lane: when the worker's progress has grown by one login. Logins therefore complete in order of their arrival.
 */
import type { ServiceModel } from "./service-model.ts";

/** Far above the rounding errors of the progress, far below the progress of one slice. */
const ROUNDING = 1e-9;

export class SimulatedWorker {
  readonly #laneMs: readonly number[];
  readonly #sliceMs: number;
  /** Arrival index of each login, in order. The first are in lanes, one per element of `#ends`; the others enter next. */
  readonly #logins: number[] = [];
  /** Progress at which each login in a lane is complete. */
  readonly #ends: number[] = [];
  /** Logins completed per lane since the beginning. */
  #progress = 0;
  #sliceBeganMs = 0;
  #sliceEndMs = Number.POSITIVE_INFINITY;

  constructor({ laneMs, sliceMs }: Pick<ServiceModel, "laneMs" | "sliceMs">) {
    this.#laneMs = laneMs;
    this.#sliceMs = sliceMs;
  }

  /** Infinity while idle. */
  get sliceEndMs(): number {
    return this.#sliceEndMs;
  }

  get count(): number {
    return this.#logins.length;
  }

  get hasRoom(): boolean {
    return this.count < this.#laneMs.length;
  }

  /** Requires room. An idle worker starts immediately, a busy worker with its next slice. */
  start(login: number, nowMs: number): void {
    this.#logins.push(login);
    const isIdle = this.#ends.length === 0;
    if (!isIdle && this.#sliceMs === 0) this.#advance(nowMs);
    if (isIdle || this.#sliceMs === 0) this.beginSlice(nowMs);
  }

  /** Ends the slice at its time and returns the completed logins. Call `beginSlice` after filling lanes. */
  endSlice(): number[] {
    this.#advance(this.#sliceEndMs);
    let done = 0;
    while ((this.#ends[done] ?? Number.POSITIVE_INFINITY) <= this.#progress + ROUNDING) done += 1;
    this.#ends.splice(0, done);
    return this.#logins.splice(0, done);
  }

  /** Fills a free lane before the next slice. */
  refill(login: number): void {
    this.#logins.push(login);
  }

  /** Puts all logins into lanes; the slice ends early when the first login is complete. */
  beginSlice(nowMs: number): void {
    while (this.#ends.length < this.#logins.length) this.#ends.push(this.#progress + 1);
    const [first] = this.#ends;
    this.#sliceBeganMs = nowMs;
    if (first === undefined) this.#sliceEndMs = Number.POSITIVE_INFINITY;
    else {
      const remainingMs = (first - this.#progress) * this.#loginMs();
      this.#sliceEndMs = nowMs + (this.#sliceMs === 0 ? remainingMs : Math.min(this.#sliceMs, remainingMs));
    }
  }

  #advance(nowMs: number): void {
    this.#progress += (nowMs - this.#sliceBeganMs) / this.#loginMs();
  }

  #loginMs(): number {
    return this.#laneMs[this.#ends.length - 1] ?? Number.POSITIVE_INFINITY;
  }
}
