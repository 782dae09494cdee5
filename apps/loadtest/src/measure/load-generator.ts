/** The tester's own part in what was measured: its processor time, its lateness, and whether it was the bottleneck. */
import type { DriverResult, Latency } from "./results.ts";

const MAX_CPU_SHARE = 0.9;
const MAX_LATENESS_P99_MS = 10;
const MIN_SENT_SHARE = 0.99;
/** No file descriptor, or no port, was left for one more connection. */
const EXHAUSTION = ["EMFILE", "ENFILE", "EADDRNOTAVAIL"];

export interface DriverFigures {
  readonly cpuShare: number;
  /** Null in a closed loop. */
  readonly lateness: Latency | null;
  /** Of the requests due in the window, those sent in it; 0 to 1. */
  readonly sentShare: number;
  /** System error codes of connections. */
  readonly faults: ReadonlySet<string>;
}

export function judgeDriver({ cpuShare, lateness, sentShare, faults }: DriverFigures): DriverResult {
  return { cpuShare, lateness, bottleneck: bottleneckOf({ cpuShare, lateness, sentShare, faults }) };
}

function bottleneckOf({ cpuShare, lateness, sentShare, faults }: DriverFigures): string | null {
  const exhausted = EXHAUSTION.find((code) => faults.has(code));
  if (exhausted !== undefined) return `it could open no more connections (${exhausted}).`;
  if (sentShare < MIN_SENT_SHARE) {
    return `it sent only ${(100 * sentShare).toFixed(1)} % of the requests in time for the rate asked.`;
  }
  if (lateness !== null && lateness.p99 > MAX_LATENESS_P99_MS) {
    return `it sent 1 % of the requests more than ${lateness.p99.toFixed(1)} ms late.`;
  }
  if (cpuShare > MAX_CPU_SHARE) return `it used ${Math.round(100 * cpuShare)} % of a core.`;
  return null;
}

/** Starts to measure this process's share of a core. @returns a function that says it up to that moment */
export function meterCpu(): () => number {
  const startedAt = performance.now();
  const before = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(before);
    const elapsedMs = performance.now() - startedAt;
    return elapsedMs > 0 ? Math.round((user + system) / elapsedMs) / 1000 : 0;
  };
}
