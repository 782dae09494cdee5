/**
 * Latencies in an HdrHistogram: microseconds, three significant digits, constant memory for any number of values. The
 * maximum and the mean are exact.
 */
import { build, type Histogram } from "hdr-histogram-js";
import type { Latency } from "./results.ts";

/** The range of a signed 32-bit counter: 35 minutes, far above any timeout. */
const MAX_MICROSECONDS = 2 ** 31 - 1;
/** Points of the curve between a percentile and the one half as far from 100. */
const POINTS_PER_HALVING = 5;

export class LatencyHistogram {
  readonly #counts: Histogram = build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  });
  #sumMs = 0;
  #maxMs = 0;

  get count(): number {
    return this.#counts.totalCount;
  }

  record(milliseconds: number): void {
    const ms = Math.max(0, milliseconds);
    this.#counts.recordValue(Math.min(MAX_MICROSECONDS, Math.round(ms * 1000)));
    this.#sumMs += ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  reset(): void {
    this.#counts.reset();
    this.#sumMs = 0;
    this.#maxMs = 0;
  }

  /** In milliseconds, by nearest rank; null without values. */
  percentile(percent: number): number | null {
    if (this.count === 0) return null;
    const exact = percent >= 100 ? this.#maxMs : this.#counts.getValueAtPercentile(percent) / 1000;
    return round(Math.min(exact, this.#maxMs));
  }

  /** Null without values. */
  summary(): Latency | null {
    const { count } = this;
    if (count === 0) return null;
    const at = (percent: number): number => this.percentile(percent) ?? 0;
    return {
      count,
      mean: round(this.#sumMs / count),
      p50: at(50),
      p90: at(90),
      p95: at(95),
      p99: at(99),
      "p99.9": at(99.9),
      max: at(100),
      curve: curvePercents(count).map((percent) => [percent, at(percent)] as const),
    };
  }
}

const round = (milliseconds: number): number => Math.round(milliseconds * 1000) / 1000;

/** 0, 10, … 50, 55, … 75, 77.5, … while the count distinguishes them, and 100. */
function curvePercents(count: number): readonly number[] {
  const percents: number[] = [];
  for (let rest = 100; rest > 100 / count && rest > 0.001; rest /= 2) {
    for (let point = 0; point < POINTS_PER_HALVING; point++) {
      percents.push(100 - rest + (point * rest) / 2 / POINTS_PER_HALVING);
    }
  }
  return [...percents, 100];
}
