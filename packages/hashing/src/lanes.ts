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

/**
 * Jobs that enter their lanes together leave them together, and an event loop that hears of them all at once keeps others
 * waiting until it has answered the last. Fewer than these would break up the answers further, and cost it more turns.
 */
const ENTER_TOGETHER = 4;

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

  /** Drops what was withdrawn, admits a few, runs one slice, and returns who left. */
  turn(): Departure[] {
    const left = this.#retire();
    const isFilling = this.#admit() > 0 && this.#occupants.includes(null);
    this.#kernel.run(isFilling ? "brief" : "full");
    left.push(...this.#retire());
    return left;
  }

  /** Empties every lane without a word. */
  clear(): void {
    this.#next.length = 0;
    for (const [lane, occupant] of this.#occupants.entries()) if (occupant) this.#leave(lane);
  }

  /** How many entered. */
  #admit(): number {
    for (let entered = 0; entered < ENTER_TOGETHER; entered++) {
      const lane = this.#occupants.indexOf(null);
      const occupant = lane === -1 ? null : this.#claimNext();
      if (!occupant) return entered;
      const { password, salt, shape } = occupant.memory;
      this.#kernel.load(lane, { password, salt, iterations: shape.iterations });
      this.#occupants[lane] = occupant;
    }
    return ENTER_TOGETHER;
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
