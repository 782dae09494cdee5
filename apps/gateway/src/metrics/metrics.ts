/** What the service counts of itself, in Prometheus' terms. No label is unbounded, and none names a person. */
import type { Hasher } from "@latchkey/hashing";
import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";
import { registerHasherMetrics } from "./hasher-metrics.ts";

/** What is observed of every answered request. */
export interface RequestObservation {
  readonly method: string;
  /** The pattern that the path matched; undefined where none did. */
  readonly route?: string | undefined;
  readonly status: number;
  readonly durationSeconds: number;
}

export interface Metrics {
  observeRequest(request: RequestObservation): void;
  observeQuery(query: {
    readonly operation: string;
    readonly succeeded: boolean;
    readonly seconds: number;
  }): void;
  /** The text exposition format. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

/** The methods that have a label of their own; a client can send any other word. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]);
const TOO_MANY_REQUESTS = 429;
/** From a cached answer to the longest wait in a full queue. */
const REQUEST_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const QUERY_BOUNDS_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/** Starts the collection of the process's own figures; the hasher's are read when they are asked for. */
export function createMetrics(hasher: Pick<Hasher, "stats">): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  registerHasherMetrics(registry, hasher);
  const registers = [registry];

  const requests = new Histogram({
    name: "http_request_duration_seconds",
    help: "Answered requests by method, route pattern and status.",
    labelNames: ["method", "route", "status"] as const,
    buckets: REQUEST_BOUNDS_SECONDS,
    registers,
  });
  const limited = new Counter({
    name: "http_request_rate_limited_total",
    help: "Requests refused with 429.",
    registers,
  });
  const queries = new Histogram({
    name: "database_query_duration_seconds",
    help: "Repository calls by operation and outcome.",
    labelNames: ["operation", "outcome"] as const,
    buckets: QUERY_BOUNDS_SECONDS,
    registers,
  });

  return {
    observeRequest({ method, route = "none", status, durationSeconds }) {
      const labels = { method: METHODS.has(method) ? method : "other", route, status };
      requests.observe(labels, durationSeconds);
      if (status === TOO_MANY_REQUESTS) limited.inc();
    },
    observeQuery({ operation, succeeded, seconds }) {
      queries.observe({ operation, outcome: succeeded ? "success" : "failure" }, seconds);
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
