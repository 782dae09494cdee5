/**
 * Decides which kernels advance the occupied lanes: the combination with the least time for one iteration of all of
 * them, by the processor time that each kernel was last seen to cost on this core. Nothing here knows a processor by
 * name. Elapsed time would not do: it makes the kernel in use look dear whenever a neighbour takes the core.
 */

/** A new combination must be this much cheaper than the one in use, so that noise does not swap them back and forth. */
const HYSTERESIS = 0.95;
/** A kernel's cost is the least of so many last measurements: a slice that was disturbed only ever takes longer. */
const SAMPLES = 5;
/**
 * One slice in so many uses the kernel that was not measured for longest, however slow it once looked: what was measured
 * while the machine was disturbed would else hold for good. A slice is not longer for it, it only gets less far.
 */
const EXPLORE_EVERY = 128;

export interface Variant {
  /** Lanes that it advances in one go; fewer cost the same. */
  readonly width: number;
}

interface Cost {
  seconds: number;
  readonly samples: number[];
  /** A turn. */
  measuredAt: number;
}

/** Indices of variants whose widths together hold the occupied lanes; each takes its width, the last what is left. */
export type Plan = readonly number[];

export class Chooser {
  readonly #variants: readonly Variant[];
  readonly #costs: readonly Cost[];
  /** `#plans[n]` is in use for n occupied lanes. */
  readonly #plans: Plan[] = [];
  #turn = 0;

  /** @param seconds of processor time: what one iteration costs with each variant, measured a moment ago. */
  constructor(variants: readonly Variant[], seconds: readonly number[]) {
    this.#variants = variants;
    this.#costs = variants.map((_, index) => {
      const seed = seconds[index] ?? Number.POSITIVE_INFINITY;
      return { seconds: seed, samples: [seed], measuredAt: 0 };
    });
  }

  /** The plan for one slice of so many occupied lanes (at least 1). */
  plan(occupied: number): Plan {
    this.#turn += 1;
    return this.#turn % EXPLORE_EVERY === 0 ? this.#exploringPlan(occupied) : this.settledPlan(occupied);
  }

  /** The plan without exploring. */
  settledPlan(occupied: number): Plan {
    const best = this.#cheapestPlan(occupied);
    const current = this.#plans[occupied];
    if (current && this.secondsOf(best) >= HYSTERESIS * this.secondsOf(current)) return current;
    this.#plans[occupied] = best;
    return best;
  }

  /** One iteration of everything in a plan. */
  secondsOf(plan: Plan): number {
    return plan.reduce((sum, variant) => sum + this.secondsPerIteration(variant), 0);
  }

  secondsPerIteration(variant: number): number {
    return this.#costs[variant]?.seconds ?? Number.POSITIVE_INFINITY;
  }

  /** Takes in what one iteration cost just now, in seconds of processor time. */
  record(variant: number, seconds: number): void {
    const cost = this.#costs[variant];
    if (!cost) return;
    // What was measured long ago says less than one fresh measurement.
    if (this.#turn - cost.measuredAt >= EXPLORE_EVERY) cost.samples.length = 0;
    cost.measuredAt = this.#turn;
    cost.samples.push(seconds);
    if (cost.samples.length > SAMPLES) cost.samples.shift();
    cost.seconds = Math.min(...cost.samples);
  }

  /** `cheapest[n]` follows from those before it: some variant comes first, and the rest is the cheapest for its rest. */
  #cheapestPlan(occupied: number): Plan {
    const cheapest: { seconds: number; first: number; rest: number }[] = [{ seconds: 0, first: -1, rest: 0 }];
    for (let lanes = 1; lanes <= occupied; lanes++) {
      let best = { seconds: Number.POSITIVE_INFINITY, first: -1, rest: 0 };
      for (const [first, { width }] of this.#variants.entries()) {
        const rest = Math.max(0, lanes - width);
        const seconds = this.secondsPerIteration(first) + (cheapest[rest]?.seconds ?? 0);
        if (seconds < best.seconds) best = { seconds, first, rest };
      }
      cheapest.push(best);
    }
    const plan: number[] = [];
    for (let lanes = occupied; lanes > 0; ) {
      const { first, rest } = cheapest[lanes] ?? { first: 0, rest: 0 };
      plan.push(first);
      lanes = rest;
    }
    return plan;
  }

  #exploringPlan(occupied: number): Plan {
    const measuredAt = this.#costs.map((cost) => cost.measuredAt);
    const oldest = measuredAt.indexOf(Math.min(...measuredAt));
    return [oldest, ...this.#cheapestPlan(Math.max(0, occupied - (this.#variants[oldest]?.width ?? 0)))];
  }
}
