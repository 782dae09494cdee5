/** What the soak holds the service to, and the report that says whether it did. */
import type { Failure, Heap } from "./service.ts";

/** A fault that was injected, on the clock of `performance.now()`. */
export interface Injected {
  readonly name: string;
  readonly explains: readonly string[];
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Sample {
  readonly atMs: number;
  readonly residentBytes: number;
}

export interface Judged {
  readonly claim: string;
  readonly holds: boolean;
  readonly evidence: string;
}

/** How long after a fault the service may still feel it: the decision is ten seconds. */
const RECOVERY_MS = 10_000;
const MAX_SLOPE_BYTES_PER_MINUTE = 1e6;
/** The live heap may differ by so much between two forced collections: caches that fill, requests in flight. */
const MAX_HEAP_GROWTH = 1.1;

export const isExplained = ({ atMs, status, cause }: Failure, injected: readonly Injected[]): boolean =>
  status === 503 &&
  injected.some(
    ({ explains, fromMs, toMs }) => explains.includes(cause) && atMs >= fromMs && atMs <= toMs + RECOVERY_MS,
  );

/** Bytes a minute, by least squares. */
export function slopeOf(samples: readonly Sample[]): number {
  const minutes = samples.map(({ atMs }) => atMs / 60_000);
  const mean = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length;
  const [meanMinute, meanBytes] = [mean(minutes), mean(samples.map(({ residentBytes }) => residentBytes))];
  let covariance = 0;
  let variance = 0;
  for (const [index, { residentBytes }] of samples.entries()) {
    const distance = (minutes[index] ?? 0) - meanMinute;
    covariance += distance * (residentBytes - meanBytes);
    variance += distance ** 2;
  }
  return covariance / variance;
}

export function judgeMemory(samples: readonly Sample[], heaps: readonly Heap[]): Judged[] {
  const slope = slopeOf(samples);
  const [first, last] = [heaps[0], heaps.at(-1)];
  const growth = first && last ? last.bytes / first.bytes : Number.NaN;
  const sizes = heaps.map(({ bytes }) => (bytes / 1e6).toFixed(2)).join(" ");
  return [
    {
      claim: "resident memory rises by less than 1 MB a minute",
      holds: slope < MAX_SLOPE_BYTES_PER_MINUTE,
      evidence: `${(slope / 1e6).toFixed(2)} MB a minute over ${samples.length} samples, now ${((samples.at(-1)?.residentBytes ?? 0) / 1e6).toFixed(0)} MB`,
    },
    {
      claim: "the live heap after a forced collection is steady",
      holds: growth < MAX_HEAP_GROWTH,
      evidence: `MB each minute: ${sizes}; objects ${heaps.map(({ objects }) => objects).join(" ")}`,
    },
  ];
}

export function judgeFailures(failures: readonly Failure[], injected: readonly Injected[]): Judged {
  const unexplained = failures.filter((failure) => !isExplained(failure, injected));
  const kinds = new Map<string, number>();
  for (const { status, route, cause } of unexplained) {
    const kind = `${status} ${route} ${cause}`;
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  return {
    claim: "every 5xx is explained by a fault",
    holds: unexplained.length === 0,
    evidence:
      unexplained.length === 0
        ? `${failures.length} answers of 503, all during a fault or within ten seconds of its end`
        : [...kinds].map(([kind, count]) => `${count} × ${kind}`).join("; "),
  };
}
