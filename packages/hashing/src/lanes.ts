/** The lanes of one worker: who is in them and who comes next. Each job leaves its lane wiped. */
import type { Kernel } from "./kernel/kernel.ts";
import { type Departure, JobMemory, type JobShape } from "./protocol.ts";

interface Offer {
  readonly id: number;
  readonly ticket: number;
  readonly memory: JobShape;
}

interface Occupant {
  readonly id: number;
  readonly ticket: number;
  readonly memory: JobMemory;
  readonly enteredMs: number;
}

export class Lanes {
  readonly #kernel: Kernel;
  /** Index is the lane; null is a free one. */
  readonly #occupants: (Occupant | null)[];
  readonly #next: Offer[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#occupants = new Array<Occupant | null>(kernel.lanes).fill(null);
  }

  get idle(): boolean {
    return this.#next.length === 0 && this.#occupants.every((occupant) => occupant === null);
  }

  /** Takes an offer to be started as soon as a lane is free. */
  push(offer: Offer): void {
    this.#next.push(offer);
  }

  /** Drops what was withdrawn, admits, runs one slice, and returns who left. */
  turn(): Departure[] {
    const left = this.#retire();
    this.#admit();
    this.#kernel.run();
    left.push(...this.#retire());
    return left;
  }

  /** Empties every lane without a word. */
  clear(): void {
    this.#next.length = 0;
    for (const [lane, occupant] of this.#occupants.entries()) if (occupant) this.#leave(lane);
  }

  #admit(): void {
    for (let lane = 0; lane < this.#occupants.length; lane++) {
      if (this.#occupants[lane] !== null) continue;
      const occupant = this.#claimNext();
      if (!occupant) return;
      const { password, salt, shape } = occupant.memory;
      this.#kernel.load(lane, { password, salt, iterations: shape.iterations });
      this.#occupants[lane] = occupant;
    }
  }

  /** The first offer that still stands. */
  #claimNext(): Occupant | null {
    for (let offer = this.#next.shift(); offer; offer = this.#next.shift()) {
      const memory = new JobMemory(offer.memory);
      if (!memory.claim(offer.ticket)) continue;
      return { id: offer.id, ticket: offer.ticket, memory, enteredMs: performance.now() };
    }
    return null;
  }

  #retire(): Departure[] {
    const left: Departure[] = [];
    for (const [lane, occupant] of this.#occupants.entries()) {
      if (!occupant) continue;
      const stands = occupant.memory.isClaimed(occupant.ticket);
      const finished = stands && this.#kernel.isFinished(lane);
      if (stands && !finished) continue;
      if (finished) this.#kernel.read(lane, occupant.memory.digest);
      this.#leave(lane);
      left.push({
        id: occupant.id,
        finished,
        runningSeconds: (performance.now() - occupant.enteredMs) / 1000,
      });
    }
    return left;
  }

  #leave(lane: number): void {
    this.#kernel.clear(lane);
    this.#occupants[lane] = null;
  }
}
