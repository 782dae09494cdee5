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

interface Variant {
  /** The number of lanes that it advances together; fewer lanes take the same time. */
  readonly width: number;
  /** The processor time of one iteration: the minimum of `samples`. */
  seconds: number;
  readonly samples: number[];
  /** The number of the slice of the latest measurement. */
  measuredAt: number;
}

/** Indices of variants with enough lanes in total: each takes as many lanes as its width, the last one the remaining lanes. */
export type Plan = readonly number[];

export class Planner {
  readonly #variants: readonly Variant[];
  /** `#plans[n]` is in use for n busy lanes. */
  readonly #plans: Plan[] = [];
  #slice = 0;

  constructor(variants: readonly Pick<Variant, "width" | "seconds">[]) {
    this.#variants = variants.map(({ width, seconds }) => ({
      width,
      seconds,
      samples: [seconds],
      measuredAt: 0,
    }));
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
    return plan.reduce((sum, index) => sum + (this.#variants[index]?.seconds ?? Number.POSITIVE_INFINITY), 0);
  }

  /** Records the processor time of one iteration, in seconds. */
  record(index: number, seconds: number): void {
    const variant = this.#variants[index];
    if (!variant) return;
    // One new measurement is more reliable than several old ones.
    if (this.#slice - variant.measuredAt >= EXPLORE_EVERY) variant.samples.length = 0;
    variant.measuredAt = this.#slice;
    variant.samples.push(seconds);
    if (variant.samples.length > SAMPLES) variant.samples.shift();
    variant.seconds = Math.min(...variant.samples);
  }

  /** Dynamic programming: the cheapest plan for n lanes is one variant and the cheapest plan for the remaining lanes. */
  #cheapestPlan(busyLanes: number): Plan {
    const cheapest: { seconds: number; plan: Plan }[] = [{ seconds: 0, plan: [] }];
    for (let lanes = 1; lanes <= busyLanes; lanes++) {
      let best: { seconds: number; plan: Plan } = { seconds: Number.POSITIVE_INFINITY, plan: [] };
      for (const [index, variant] of this.#variants.entries()) {
        const rest = cheapest[Math.max(0, lanes - variant.width)] ?? best;
        const seconds = variant.seconds + rest.seconds;
        if (seconds < best.seconds) best = { seconds, plan: [index, ...rest.plan] };
      }
      cheapest.push(best);
    }
    return cheapest[busyLanes]?.plan ?? [];
  }

  #exploringPlan(busyLanes: number): Plan {
    const measuredAt = this.#variants.map((variant) => variant.measuredAt);
    const oldest = measuredAt.indexOf(Math.min(...measuredAt));
    return [oldest, ...this.#cheapestPlan(Math.max(0, busyLanes - (this.#variants[oldest]?.width ?? 0)))];
  }
}
