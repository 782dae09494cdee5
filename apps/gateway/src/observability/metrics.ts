/** What the service counts of itself, in Prometheus' terms. No label is unbounded, and none names a person. */
import type { Hasher } from "@latchkey/hashing";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import { registerHasherMetrics } from "./hasher-metrics.ts";
import { registerProcessMetrics } from "./process-metrics.ts";

/** What is observed of every answered request. */
export interface RequestObservation {
  readonly method: string;
  /** The pattern that the path matched; undefined where none did. */
  readonly route?: string | undefined;
  readonly status: number | string | undefined;
  readonly durationMs: number;
}

export type QueryOutcome = "success" | "conflict" | "failure";

export interface QueryObservation {
  /** As many as there are repository methods. */
  readonly operation: string;
  readonly outcome: QueryOutcome;
  readonly durationMs: number;
}

export interface Metrics {
  observeRequest(request: RequestObservation): void;
  /** Tells of a query that begins; what it returns tells of its end. */
  beginQuery(): (query: QueryObservation) => void;
  /** The text exposition format. */
  read(): Promise<{ readonly contentType: string; readonly text: string }>;
}

export interface MetricsOptions {
  readonly hasher: Pick<Hasher, "stats">;
  /** Connections that the database may hold. */
  readonly poolSize: number;
}

/** The methods that have a label of their own; a client can send any other word. */
const METHODS = new Set(["GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS", "PUT"]);
const TOO_MANY_REQUESTS = 429;
/** From a cached answer to the longest wait in a full queue. */
const REQUEST_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const QUERY_BOUNDS_SECONDS = [0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.25, 1, 5];

/** Starts the collection of the process's own figures; the hasher's are read when they are asked for. */
export function createMetrics({ hasher, poolSize }: MetricsOptions): Metrics {
  const registry = new Registry();
  const registers = [registry];
  registerProcessMetrics(registry);
  registerHasherMetrics(registry, hasher);

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
    help: "Database calls by operation and outcome, the wait for a connection included.",
    labelNames: ["operation", "outcome"] as const,
    buckets: QUERY_BOUNDS_SECONDS,
    registers,
  });
  let inFlight = 0;
  new Gauge({
    name: "database_queries_in_flight",
    help: "Database calls that have not ended; those beyond the pool's size wait for a connection.",
    registers,
    collect() {
      this.set(inFlight);
    },
  });
  new Gauge({ name: "database_pool_size", help: "Connections held at most.", registers }).set(poolSize);

  return {
    observeRequest({ method, route = "none", status = 200, durationMs }) {
      const labels = { method: METHODS.has(method) ? method : "other", route, status };
      requests.observe(labels, durationMs / 1000);
      if (status === TOO_MANY_REQUESTS) limited.inc();
    },
    beginQuery() {
      inFlight += 1;
      return ({ operation, outcome, durationMs }) => {
        inFlight -= 1;
        queries.observe({ operation, outcome }, durationMs / 1000);
      };
    },
    read: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}
