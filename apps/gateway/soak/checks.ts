/** The checks at the end of the soak. */
import type { Fault } from "./faults.ts";
import type { Heap, ServerError } from "./service.ts";

/** A fault that was injected; times are on the clock of `performance.now()`. */
export interface InjectedFault extends Pick<Fault, "name" | "explains"> {
  readonly fromMs: number;
  readonly toMs: number;
}

export interface Sample {
  readonly atMs: number;
  readonly residentBytes: number;
}

export interface CheckResult {
  readonly check: string;
  readonly passed: boolean;
  readonly evidence: string;
}

/** How long after a fault errors are still explained by it. */
const RECOVERY_MS = 10_000;
const MAX_SLOPE_BYTES_PER_MINUTE = 1e6;
/** Allows for caches that fill and requests in flight. */
const MAX_HEAP_GROWTH = 1.1;

const isExplained = ({ atMs, status, cause }: ServerError, injected: readonly InjectedFault[]): boolean =>
  status === 503 &&
  injected.some(
    ({ explains, fromMs, toMs }) => explains.includes(cause) && atMs >= fromMs && atMs <= toMs + RECOVERY_MS,
  );

/** Returns the growth in bytes per minute by linear regression (least squares). */
function bytesPerMinute(samples: readonly Sample[]): number {
  const mean = (of: (sample: Sample) => number) =>
    samples.reduce((sum, sample) => sum + of(sample), 0) / samples.length;
  const [meanMs, meanBytes] = [mean(({ atMs }) => atMs), mean(({ residentBytes }) => residentBytes)];
  const covariance = mean(({ atMs, residentBytes }) => (atMs - meanMs) * (residentBytes - meanBytes));
  return (60_000 * covariance) / mean(({ atMs }) => (atMs - meanMs) ** 2);
}

export function checkMemory(samples: readonly Sample[], heaps: readonly Heap[]): CheckResult[] {
  const slope = bytesPerMinute(samples);
  const [first, last] = [heaps[0], heaps.at(-1)];
  const growth = first && last ? last.bytes / first.bytes : Number.NaN;
  const sizes = heaps.map(({ bytes }) => (bytes / 1e6).toFixed(2)).join(" ");
  return [
    {
      check: "resident memory grows by less than 1 MB per minute",
      passed: slope < MAX_SLOPE_BYTES_PER_MINUTE,
      evidence: `${(slope / 1e6).toFixed(2)} MB per minute over ${samples.length} samples, last ${((samples.at(-1)?.residentBytes ?? 0) / 1e6).toFixed(0)} MB`,
    },
    {
      check: "the heap after a garbage collection does not grow",
      passed: growth < MAX_HEAP_GROWTH,
      evidence: `MB per minute: ${sizes}; objects ${heaps.map(({ objects }) => objects).join(" ")}`,
    },
  ];
}

export function checkErrors(errors: readonly ServerError[], injected: readonly InjectedFault[]): CheckResult {
  const unexplained = errors.filter((error) => !isExplained(error, injected));
  const kinds = Object.groupBy(unexplained, ({ status, route, cause }) => `${status} ${route} ${cause}`);
  return {
    check: "every 5xx response is explained by a fault",
    passed: unexplained.length === 0,
    evidence:
      unexplained.length === 0
        ? `${errors.length} responses with 503, all during a fault or up to ten seconds after it`
        : Object.entries(kinds)
            .map(([kind, list]) => `${list?.length} × ${kind}`)
            .join("; "),
  };
}
