/**
 * Chooses the kernel variant of each slice: the narrowest variant whose cost per lane is close to the lowest. A narrow variant
 * advances fewer jobs at a time, but these jobs finish earlier. The cost is processor time, because elapsed time would make a
 * variant look slow when another process has the core.
 */
import type { KernelVariant } from "./addon.ts";

/** A narrower variant is preferred if its cost per lane is at most this multiple of the lowest cost. */
const ABOUT_AS_CHEAP = 1.05;
/** A worker has more lanes only if that is clearly cheaper, because each job then takes longer. */
export const USUAL_LANES = 16;
/** The cost of a variant is the minimum of this many measurements, because interference can only make a slice slower. */
const SAMPLES = 5;
/**
 * One in this many slices uses the variant with the oldest measurement, even if this variant was slow. Otherwise, a
 * measurement under interference would never be corrected. This costs little: a slow variant only runs fewer iterations in
 * this slice.
 */
const EXPLORE_EVERY = 128;

interface Variant extends KernelVariant {
  /** The processor time of one iteration on all lanes of the variant: the minimum of `samples`. */
  seconds: number;
  readonly samples: number[];
  /** The number of the slice that measured the variant last. */
  measuredAt: number;
}

export class VariantPlanner {
  /** At least one, ascending by width. */
  readonly #variants: readonly Variant[];
  #slice = 0;

  /** @param variants at least one. */
  constructor(variants: readonly (KernelVariant & { readonly seconds: number })[]) {
    this.#variants = variants
      .map((variant) => ({ ...variant, samples: [variant.seconds], measuredAt: 0 }))
      .sort((a, b) => a.width - b.width);
  }

  /** The number of lanes of a worker with these costs. */
  get lanes(): number {
    const costOfFull = (variant: Variant): number => costOf(variant, variant.width);
    const usual = this.#variants.filter(({ width }) => width <= USUAL_LANES);
    const limit = Math.min(...usual.map(costOfFull)) / ABOUT_AS_CHEAP;
    const chosen = this.#variants.findLast(
      (variant) => usual.includes(variant) || costOfFull(variant) <= limit,
    );
    return (chosen ?? this.#variants.at(-1))?.width ?? 0;
  }

  /** Returns the variant for one slice with this number of busy lanes (at least 1). */
  choose(busyLanes: number): Variant {
    this.#slice += 1;
    if (this.#slice % EXPLORE_EVERY !== 0) return this.chooseMeasured(busyLanes);
    return this.#variants.reduce((oldest, variant) =>
      variant.measuredAt < oldest.measuredAt ? variant : oldest,
    );
  }

  /** Returns the narrowest variant whose cost per busy lane is close to the lowest, without exploration. */
  chooseMeasured(busyLanes: number): Variant {
    const costs = this.#variants.map((variant) => ({ variant, cost: costOf(variant, busyLanes) }));
    const limit = ABOUT_AS_CHEAP * Math.min(...costs.map(({ cost }) => cost));
    // The cast is safe because the cheapest variant is within the limit.
    return costs.find(({ cost }) => cost <= limit)?.variant as Variant;
  }

  /** Records the processor time of one iteration of a chosen variant, in seconds. */
  record(variant: Variant, seconds: number): void {
    // One new measurement is more reliable than several old ones.
    if (this.#slice - variant.measuredAt >= EXPLORE_EVERY) variant.samples.length = 0;
    variant.measuredAt = this.#slice;
    variant.samples.push(seconds);
    if (variant.samples.length > SAMPLES) variant.samples.shift();
    variant.seconds = Math.min(...variant.samples);
  }
}

/** Returns processor seconds per busy lane and iteration. */
const costOf = ({ seconds, width }: Variant, busyLanes: number): number =>
  seconds / Math.min(width, busyLanes);
