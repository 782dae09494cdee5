/**
 * One simulated hash worker. The group of the oldest lanes advances; the others wait. All logins cost the same, so they stay
 * sorted by remaining work and complete in order of their arrival.
 */
import type { ServiceModel } from "./service-model.ts";

/** Far above the rounding errors of the remaining work, far below the progress of one slice. */
const ROUNDING = 1e-9;

export class SimulatedWorker {
  readonly #model: ServiceModel;
  /** Arrival index of each login, in order. The first are in lanes, one per element of `#remaining`; the others enter next. */
  readonly #logins: number[] = [];
  /** Remaining part of each login in a lane, ascending. */
  readonly #remaining: number[] = [];
  #sliceBeganMs = 0;
  #sliceEndMs = Number.POSITIVE_INFINITY;

  constructor(model: ServiceModel) {
    this.#model = model;
  }

  /** Infinity while idle. */
  get sliceEndMs(): number {
    return this.#sliceEndMs;
  }

  get count(): number {
    return this.#logins.length;
  }

  get hasRoom(): boolean {
    return this.count < this.#model.laneMs.length;
  }

  /** Requires room. An idle worker starts immediately, a busy worker with its next slice. */
  start(login: number, nowMs: number): void {
    this.#logins.push(login);
    const isIdle = this.#remaining.length === 0;
    if (!isIdle && this.#model.sliceMs === 0) this.#advance(nowMs);
    if (isIdle || this.#model.sliceMs === 0) this.beginSlice(nowMs);
  }

  /** Ends the slice at its time and returns the completed logins. Call `beginSlice` after filling lanes. */
  endSlice(): number[] {
    this.#advance(this.#sliceEndMs);
    let done = 0;
    while ((this.#remaining[done] ?? 1) <= ROUNDING) done += 1;
    this.#remaining.splice(0, done);
    return this.#logins.splice(0, done);
  }

  /** Fills a free lane before the next slice. */
  refill(login: number): void {
    this.#logins.push(login);
  }

  /** Puts all logins into lanes; the slice ends early when the first login is complete. */
  beginSlice(nowMs: number): void {
    while (this.#remaining.length < this.#logins.length) this.#remaining.push(1);
    const { sliceMs } = this.#model;
    const [first] = this.#remaining;
    this.#sliceBeganMs = nowMs;
    if (first === undefined) this.#sliceEndMs = Number.POSITIVE_INFINITY;
    else {
      const remainingMs = first * this.#groupMs();
      this.#sliceEndMs = nowMs + (sliceMs === 0 ? remainingMs : Math.min(sliceMs, remainingMs));
    }
  }

  #advance(nowMs: number): void {
    const progress = (nowMs - this.#sliceBeganMs) / this.#groupMs();
    for (let lane = 0; lane < this.#groupSize(); lane++) {
      this.#remaining[lane] = (this.#remaining[lane] ?? 0) - progress;
    }
  }

  #groupSize(): number {
    return this.#model.groups[this.#remaining.length - 1] ?? 0;
  }

  /** Duration of a login in the group, which has the speed of all busy lanes together. */
  #groupMs(): number {
    const busy = this.#remaining.length;
    return ((this.#model.laneMs[busy - 1] ?? Number.POSITIVE_INFINITY) * this.#groupSize()) / busy;
  }
}
