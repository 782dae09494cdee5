/**
 * Chooses the kernel variant of each slice: that of the smallest group of lanes whose cost per lane is close to the lowest; the
 * jobs of the group then finish early at no cost. If most lanes would wait, it uses the variant for all lanes, unless that
 * costs more than 1.25 times as much. Costs are measured processor time: elapsed time would make a variant look slow
 * whenever another process has the core.
 */
import type { KernelVariant } from "./addon.ts";

/** A narrower variant that is at most this much more expensive per lane than the cheapest one is preferred. */
const ABOUT_AS_CHEAP = 1.05;
/**
 * If most lanes would wait, the variant for all lanes is preferred at up to this multiple of the cost: jobs that arrive in
 * the meantime make it cheaper. In simulations, lower values raise the p99 at 80 % of the capacity, higher ones the mean.
 */
const NEARLY_AS_CHEAP = 1.25;
/** The cost of a variant is the minimum of this many measurements, because interference only ever makes a slice slower. */
const SAMPLES = 5;
/**
 * One in this many slices uses the variant whose measurement is oldest, even if it was slow: otherwise a measurement
 * taken under interference would never be corrected. Such a slice is not longer, it only advances fewer iterations.
 */
const EXPLORE_EVERY = 128;

interface MeasuredVariant extends KernelVariant {
  /** The processor time of one iteration of all its lanes. */
  readonly seconds: number;
}

interface Variant extends MeasuredVariant {
  /** The minimum of `samples`. */
  seconds: number;
  readonly samples: number[];
  /** The number of the slice of the latest measurement. */
  measuredAt: number;
}

export class Planner {
  /** At least one, ascending by width. */
  readonly #variants: readonly Variant[];
  #slice = 0;

  /** @param variants at least one. */
  constructor(variants: readonly MeasuredVariant[]) {
    this.#variants = variants
      .map((variant) => ({ ...variant, samples: [variant.seconds], measuredAt: 0 }))
      .sort((a, b) => a.width - b.width);
  }

  /** The variant for one slice with this number of busy lanes (at least 1). */
  plan(busyLanes: number): MeasuredVariant {
    this.#slice += 1;
    if (this.#slice % EXPLORE_EVERY !== 0) return this.settledPlan(busyLanes);
    return this.#variants.reduce((oldest, variant) =>
      variant.measuredAt < oldest.measuredAt ? variant : oldest,
    );
  }

  /** The plan without exploration. */
  settledPlan(busyLanes: number): MeasuredVariant {
    return chooseVariant(this.#variants, busyLanes);
  }

  /** Records the processor time of one iteration, in seconds. */
  record({ id }: Pick<KernelVariant, "id">, seconds: number): void {
    const variant = this.#variants.find((each) => each.id === id);
    if (!variant) return;
    // One new measurement is more reliable than several old ones.
    if (this.#slice - variant.measuredAt >= EXPLORE_EVERY) variant.samples.length = 0;
    variant.measuredAt = this.#slice;
    variant.samples.push(seconds);
    if (variant.samples.length > SAMPLES) variant.samples.shift();
    variant.seconds = Math.min(...variant.samples);
  }
}

function chooseVariant(variants: readonly MeasuredVariant[], busyLanes: number): MeasuredVariant {
  const group = smallestGroup(variants, busyLanes);
  const forAll = smallestGroup(variants, Number.POSITIVE_INFINITY);
  const leavesMostWaiting = busyLanes > 2 * group.width;
  const isNearlyAsCheap = costOf(forAll, busyLanes) <= NEARLY_AS_CHEAP * costOf(group, busyLanes);
  return leavesMostWaiting && isNearlyAsCheap ? forAll : group;
}

/** The narrowest variant whose cost per busy lane is close to the lowest. */
function smallestGroup(variants: readonly MeasuredVariant[], busyLanes: number): MeasuredVariant {
  const cheapest = variants.reduce((best, variant) =>
    costOf(variant, busyLanes) < costOf(best, busyLanes) ? variant : best,
  );
  const limit = ABOUT_AS_CHEAP * costOf(cheapest, busyLanes);
  return variants.find((variant) => costOf(variant, busyLanes) <= limit) ?? cheapest;
}

/** Processor seconds per busy lane and iteration. */
const costOf = ({ seconds, width }: MeasuredVariant, busyLanes: number): number =>
  seconds / Math.min(width, busyLanes);
