/** Latencies in an HdrHistogram, in microseconds with three significant digits. Its memory is constant. */
import { build, type Histogram } from "hdr-histogram-js";

/** All values except `count` are in milliseconds. */
export type Latency = NonNullable<ReturnType<LatencyHistogram["summary"]>>;

/** The maximum of a signed 32-bit integer: 35 minutes, far above any timeout. */
const MAX_MICROSECONDS = 2 ** 31 - 1;

export class LatencyHistogram {
  readonly #counts: Histogram = build({
    bitBucketSize: 32,
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  });

  record(milliseconds: number): void {
    const microseconds = Math.round(Math.max(0, milliseconds) * 1000);
    this.#counts.recordValue(Math.min(MAX_MICROSECONDS, microseconds));
  }

  /** Returns percentiles by nearest rank, or null if no value was recorded. */
  summary() {
    const { totalCount: count, mean, maxValue } = this.#counts;
    if (count === 0) return null;
    return {
      count,
      mean: Math.round(mean) / 1000,
      p50: this.#at(50),
      p90: this.#at(90),
      p95: this.#at(95),
      p99: this.#at(99),
      "p99.9": this.#at(99.9),
      /** Exact, unlike the percentiles. */
      max: maxValue / 1000,
    };
  }

  /** Limits the percentile to the maximum, because the histogram returns the upper end of a bucket. */
  #at(percent: number): number {
    return Math.min(this.#counts.getValueAtPercentile(percent), this.#counts.maxValue) / 1000;
  }
}
