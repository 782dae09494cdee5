/** What the service says of its hashing core on its metrics port, asked once a second. */
import { describeError, EXIT, LoadtestError } from "../errors.ts";
import type { ServerFigures } from "./results.ts";

const INTERVAL_MS = 1000;
const TIMEOUT_MS = 900;

export interface ServerMetrics {
  /** The latest. */
  current(): ServerFigures;
  /** The latest, but of lanes busy and of the queue's length the most that was seen since the start or the last `peak`. */
  peak(): ServerFigures;
  stop(): void;
}

/**
 * Asks for the first time, and then once a second until stopped; later an answer that does not come leaves the figures as
 * they are, since a service that is busy or restarts says so in its answers.
 * @throws {LoadtestError} if nothing at the URL tells of a hashing core
 */
export async function openServerMetrics(url: string): Promise<ServerMetrics> {
  let current = await readServerFigures(url);
  let lanesBusy = 0;
  let queueLength = 0;
  const timer = setInterval(async () => {
    try {
      current = await readServerFigures(url);
    } catch {
      return;
    }
    lanesBusy = Math.max(lanesBusy, current.lanesBusy);
    queueLength = Math.max(queueLength, current.queueLength);
  }, INTERVAL_MS);
  return {
    current: () => current,
    peak() {
      const figures = { ...current, lanesBusy, queueLength };
      lanesBusy = 0;
      queueLength = 0;
      return figures;
    },
    stop: () => clearInterval(timer),
  };
}

/** @throws {LoadtestError} */
async function readServerFigures(url: string): Promise<ServerFigures> {
  const refuse = (problem: string) => new LoadtestError(`--metrics ${url} ${problem}`, EXIT.unavailable);
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const figures = parseServerFigures(await answer.text());
    if (answer.ok && figures !== null) return figures;
  } catch (error) {
    throw refuse(`cannot be read: ${describeError(error)}`);
  }
  throw refuse("has no figures of a hashing core: it must be the /metrics of the service's METRICS_PORT.");
}

/** Prometheus' text format, version 0.0.4; null if a figure is missing. */
export function parseServerFigures(text: string): ServerFigures | null {
  const gauge = (name: string): number => {
    const value = new RegExp(`^hash_${name} (\\S+)$`, "m").exec(text)?.[1];
    return value === undefined ? Number.NaN : Number(value);
  };
  const kernel = /^hash_kernel_info\{[^}]*\bkernel="([^"]+)"[^}]*\} 1$/m.exec(text)?.[1];
  const figures = {
    workers: gauge("workers"),
    lanes: gauge("lanes"),
    lanesBusy: gauge("lanes_busy"),
    queueLength: gauge("queue_length"),
    capacityPerSecond: gauge("capacity_per_second"),
  };
  const isWhole = kernel !== undefined && Object.values(figures).every(Number.isFinite);
  return isWhole ? { kernel, ...figures } : null;
}
