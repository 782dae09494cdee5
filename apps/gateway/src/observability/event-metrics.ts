/**
 * Metrics of account events. The oldest event that a reader has not read is not known: readers keep their cursors. Counting a
 * million events takes a second, in short queries, so a scrape returns the last count.
 */
import type { Database } from "@latchkey/database";
import { Counter, Gauge, type Registry } from "prom-client";

/** Receives what the metrics show. */
export interface EventObserver {
  /** The events of a response. */
  read(count: number): void;
  /** The number of requests that wait. */
  waiting(count: number): void;
}

const COUNT_INTERVAL_MS = 60 * 1000;

export function registerEventMetrics(
  registers: Registry[],
  events: Pick<Database["events"], "count">,
): EventObserver {
  const read = new Counter({
    name: "account_events_read_total",
    help: "Total number of account events in responses of this replica; each reader counts.",
    registers,
  });
  const waiting = new Gauge({
    name: "account_events_waiting_readers",
    help: "Number of requests that wait for an account event, at most 100.",
    registers,
  });
  let countedAt = -COUNT_INTERVAL_MS;
  new Gauge({
    name: "account_events_stored",
    help: "Number of account events in the database, counted every minute, the same in all replicas.",
    registers,
    collect() {
      if (performance.now() - countedAt < COUNT_INTERVAL_MS) return;
      countedAt = performance.now();
      // The scrape does not wait for the count. After an error, the next count starts a minute later at the earliest.
      events.count().then(
        (count) => this.set(count),
        () => undefined,
      );
    },
  });
  return { read: (count) => read.inc(count), waiting: (count) => waiting.set(count) };
}
