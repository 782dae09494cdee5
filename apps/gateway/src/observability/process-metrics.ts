/** The process's own figures by the client library, as far as they mean something in this runtime. */
import { collectDefaultMetrics, Registry } from "prom-client";

/** The others are always zero here, no number where nothing happened, or count what is mapped and never used. */
const MEANINGFUL = [
  "process_cpu_seconds_total",
  "process_cpu_user_seconds_total",
  "process_cpu_system_seconds_total",
  "process_start_time_seconds",
  "process_resident_memory_bytes",
  "process_open_fds",
  "process_max_fds",
  "nodejs_eventloop_lag_seconds",
  "nodejs_eventloop_lag_max_seconds",
  "nodejs_eventloop_lag_p50_seconds",
  "nodejs_eventloop_lag_p90_seconds",
  "nodejs_eventloop_lag_p99_seconds",
  "nodejs_heap_size_total_bytes",
  "nodejs_heap_size_used_bytes",
  "nodejs_external_memory_bytes",
];

/** The delay of the event loop is what it was between two scrapes. */
export function registerProcessMetrics(registry: Registry): void {
  const all = new Registry();
  collectDefaultMetrics({ register: all });
  for (const name of MEANINGFUL) {
    const metric = all.getSingleMetric(name);
    // Some exist on Linux alone.
    if (metric) registry.registerMetric(metric);
  }
}
