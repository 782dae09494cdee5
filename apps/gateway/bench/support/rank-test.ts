/** Compares two samples without assumptions about their distribution. */

/**
 * The two-sided Mann–Whitney U test: returns the p-value. Uses the normal approximation with corrections for ties and
 * continuity, which is accurate from about 20 values per sample.
 */
export function rankTest(first: readonly number[], second: readonly number[]): number {
  const ranked = [
    ...first.map((value) => ({ value, isFirst: true })),
    ...second.map((value) => ({ value, isFirst: false })),
  ];
  ranked.sort((a, b) => a.value - b.value);
  let rankSum = 0;
  let tieTerm = 0;
  for (let start = 0; start < ranked.length; ) {
    let end = start;
    while (end < ranked.length && ranked[end]?.value === ranked[start]?.value) end += 1;
    const tied = ranked.slice(start, end);
    rankSum += tied.filter(({ isFirst }) => isFirst).length * ((start + 1 + end) / 2);
    tieTerm += tied.length ** 3 - tied.length;
    start = end;
  }
  const [n, m] = [first.length, second.length];
  const u = rankSum - (n * (n + 1)) / 2;
  const variance = ((n * m) / 12) * (n + m + 1 - tieTerm / ((n + m) * (n + m - 1)));
  if (variance === 0) return 1;
  return twoSided(Math.max(0, Math.abs(u - (n * m) / 2) - 0.5) / Math.sqrt(variance));
}

/** The 95 % confidence interval of the median: two order statistics, with the normal approximation of the binomial. */
export function medianInterval(values: readonly number[]): readonly [low: number, high: number] {
  const sorted = values.toSorted((a, b) => a - b);
  const rank = Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2);
  return [sorted[rank - 1] ?? Number.NaN, sorted[sorted.length - rank] ?? Number.NaN];
}

/** P(|Z| ≥ z) of the standard normal distribution: Abramowitz and Stegun 26.2.17, error below 1.5e-7. */
function twoSided(z: number): number {
  const t = 1 / (1 + 0.2316419 * z);
  const tail =
    t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return Math.min(1, (2 * tail * Math.exp((-z * z) / 2)) / Math.sqrt(2 * Math.PI));
}
