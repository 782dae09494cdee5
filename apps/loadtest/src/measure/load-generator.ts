/** Measures the load generator itself: its CPU time, its lateness, and whether it was the bottleneck. */
import type { LoadGeneratorResult, OperationResult } from "./results.ts";

const MAX_CPU_SHARE = 0.9;
const MAX_LATENESS_P99_MS = 10;
const MIN_SENT_SHARE = 0.99;
/** No file descriptor or no port is available for another connection. */
const EXHAUSTION_CODES = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

export interface LoadGeneratorFigures extends Omit<LoadGeneratorResult, "bottleneck"> {
  /** Proportion of the requests due in the window that were sent in it, 0 to 1. */
  readonly sentShare: number;
  readonly connectionErrors: OperationResult["connectionErrors"];
}

/** Why the load generator was the bottleneck; null if it was not. */
export function bottleneckOf(figures: LoadGeneratorFigures): string | null {
  const { cpuShare, lateness, sentShare, connectionErrors } = figures;
  const exhausted = EXHAUSTION_CODES.find((code) => code in connectionErrors);
  if (exhausted !== undefined) return `it could not open more connections (${exhausted}).`;
  if (sentShare < MIN_SENT_SHARE)
    return `it sent only ${(100 * sentShare).toFixed(1)} % of the requests in time.`;
  if (lateness !== null && lateness.p99 > MAX_LATENESS_P99_MS) {
    return `it sent 1 % of the requests more than ${lateness.p99.toFixed(1)} ms late.`;
  }
  return cpuShare > MAX_CPU_SHARE ? `it used ${Math.round(100 * cpuShare)} % of a core.` : null;
}

/** Starts to measure the CPU share of this process. @returns a function that returns the share since then */
export function meterCpu(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const elapsedMs = performance.now() - startedAt;
    return elapsedMs > 0 ? Math.round((user + system) / elapsedMs) / 1000 : 0;
  };
}
