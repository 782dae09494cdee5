/**
 * Chooses the kernel variants that advance the busy lanes: the combination with the lowest measured processor time for
 * one iteration of all of them. Elapsed time would make the variant in use look slow whenever another process has the core.
 */

/** A new combination must be at least 5 % faster than the current one, so that noise does not cause switching. */
const HYSTERESIS = 0.95;
/** The cost of a variant is the minimum of this many measurements, because interference only ever makes a slice slower. */
const SAMPLES = 5;
/**
 * One in this many slices uses the variant whose measurement is oldest, even if it was slow: otherwise a measurement
 * taken under interference would never be corrected. Such a slice is not longer, it only advances fewer iterations.
 */
const EXPLORE_EVERY = 128;

export interface PlannerVariant {
  /** The number of lanes that it advances together; fewer lanes take the same time. */
  readonly width: number;
  /** The processor time of one iteration, measured just now. */
  readonly seconds: number;
}

interface Cost {
  seconds: number;
  readonly samples: number[];
  /** The number of the slice of the latest measurement. */
  measuredAt: number;
}

/** Indices of variants with enough lanes in total: each takes as many lanes as its width, the last one the remaining lanes. */
export type Plan = readonly number[];

export class Planner {
  readonly #widths: readonly number[];
  readonly #costs: readonly Cost[];
  /** `#plans[n]` is in use for n busy lanes. */
  readonly #plans: Plan[] = [];
  #slice = 0;

  constructor(variants: readonly PlannerVariant[]) {
    this.#widths = variants.map(({ width }) => width);
    this.#costs = variants.map(({ seconds }) => ({ seconds, samples: [seconds], measuredAt: 0 }));
  }

  /** The plan for one slice with this number of busy lanes (at least 1). */
  plan(busyLanes: number): Plan {
    this.#slice += 1;
    return this.#slice % EXPLORE_EVERY === 0 ? this.#exploringPlan(busyLanes) : this.settledPlan(busyLanes);
  }

  /** The plan without exploration. */
  settledPlan(busyLanes: number): Plan {
    const best = this.#cheapestPlan(busyLanes);
    const current = this.#plans[busyLanes];
    if (current && this.secondsOf(best) >= HYSTERESIS * this.secondsOf(current)) return current;
    this.#plans[busyLanes] = best;
    return best;
  }

  /** The processor time of one iteration of all variants in a plan. */
  secondsOf(plan: Plan): number {
    return plan.reduce((sum, variant) => sum + this.#secondsPerIteration(variant), 0);
  }

  /** Records the processor time of one iteration, in seconds. */
  record(variant: number, seconds: number): void {
    const cost = this.#costs[variant];
    if (!cost) return;
    // One new measurement is more reliable than several old ones.
    if (this.#slice - cost.measuredAt >= EXPLORE_EVERY) cost.samples.length = 0;
    cost.measuredAt = this.#slice;
    cost.samples.push(seconds);
    if (cost.samples.length > SAMPLES) cost.samples.shift();
    cost.seconds = Math.min(...cost.samples);
  }

  #secondsPerIteration(variant: number): number {
    return this.#costs[variant]?.seconds ?? Number.POSITIVE_INFINITY;
  }

  /** Dynamic programming: the cheapest plan for n lanes is one variant and the cheapest plan for the remaining lanes. */
  #cheapestPlan(busyLanes: number): Plan {
    const cheapest: { seconds: number; plan: Plan }[] = [{ seconds: 0, plan: [] }];
    for (let lanes = 1; lanes <= busyLanes; lanes++) {
      let best: { seconds: number; plan: Plan } = { seconds: Number.POSITIVE_INFINITY, plan: [] };
      for (const [variant, width] of this.#widths.entries()) {
        const rest = cheapest[Math.max(0, lanes - width)] ?? best;
        const seconds = this.#secondsPerIteration(variant) + rest.seconds;
        if (seconds < best.seconds) best = { seconds, plan: [variant, ...rest.plan] };
      }
      cheapest.push(best);
    }
    return cheapest[busyLanes]?.plan ?? [];
  }

  #exploringPlan(busyLanes: number): Plan {
    const measuredAt = this.#costs.map((cost) => cost.measuredAt);
    const oldest = measuredAt.indexOf(Math.min(...measuredAt));
    return [oldest, ...this.#cheapestPlan(Math.max(0, busyLanes - (this.#widths[oldest] ?? 0)))];
  }
}
