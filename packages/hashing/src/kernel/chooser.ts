/**
 * Decides which kernels advance the occupied lanes: the combination with the least time for one iteration of all of
 * them, by what each kernel was last seen to cost on this core. Nothing here knows a processor by name.
 */

/** A new combination must be this much cheaper than the one in use, so that noise does not swap them back and forth. */
const HYSTERESIS = 0.95;
/** A kernel's cost is the median of as many measurements: a slice that was interrupted does not count. */
const SAMPLES = 5;
/** One slice in so many uses the kernel that was not measured for longest, so that no cost grows stale. */
const EXPLORE_EVERY = 256;
/** ... unless that would make the slice so many times longer. */
const EXPLORE_LIMIT = 2;

export interface Variant {
  /** Lanes that it advances in one go; fewer cost the same. */
  readonly width: number;
}

interface Cost {
  seconds: number;
  readonly samples: number[];
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

  /** @param seconds what one iteration costs with each variant, measured a moment ago. */
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
    const plan = this.settledPlan(occupied);
    if (this.#turn % EXPLORE_EVERY !== 0) return plan;
    const exploring = this.#exploringPlan(occupied);
    return this.secondsOf(exploring) < EXPLORE_LIMIT * this.secondsOf(plan) ? exploring : plan;
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

  /** Takes in what one iteration cost just now. */
  record(variant: number, seconds: number): void {
    const cost = this.#costs[variant];
    if (!cost) return;
    cost.measuredAt = this.#turn;
    cost.samples.push(seconds);
    if (cost.samples.length > SAMPLES) cost.samples.shift();
    cost.seconds = median(cost.samples);
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
    let oldest = 0;
    for (const [variant, { measuredAt }] of this.#costs.entries()) {
      if (measuredAt < (this.#costs[oldest]?.measuredAt ?? 0)) oldest = variant;
    }
    // Its turn counts also if it turns out too slow to run, or it would stand in the way of the others.
    const cost = this.#costs[oldest];
    if (cost) cost.measuredAt = this.#turn;
    return [oldest, ...this.#cheapestPlan(Math.max(0, occupied - (this.#variants[oldest]?.width ?? 0)))];
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.POSITIVE_INFINITY;
}
