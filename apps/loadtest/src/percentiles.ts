/** Durations and what they come to. */

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly max: number;
}

/** Nearest rank, in the unit of `values`, to a hundredth; null where nothing was measured. */
export function percentilesOf(values: readonly number[]): Percentiles | null {
  if (values.length === 0) return null;
  const sorted = values.toSorted((a, b) => a - b);
  const rank = (share: number): number => {
    const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
    return Math.round(value * 100) / 100;
  };
  return { p50: rank(0.5), p95: rank(0.95), p99: rank(0.99), max: rank(1) };
}
