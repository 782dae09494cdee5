/** The hasher's own figures, read from `stats()` at every scrape: nothing is counted twice. */
import type { Hasher, HasherStats, HistogramSnapshot } from "@latchkey/hashing";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

type Reading = (stats: HasherStats) => number;

const GAUGES: Readonly<Record<string, readonly [help: string, read: Reading]>> = {
  hash_workers: ["Worker threads.", (stats) => stats.workers],
  hash_lanes: ["Derivations that can run at once.", (stats) => stats.lanes],
  hash_lanes_busy: ["Derivations that run.", (stats) => stats.lanesBusy],
  hash_queue_length: ["Derivations that wait.", (stats) => stats.queueLength],
  hash_queue_limit: ["Derivations that may wait.", (stats) => stats.queueLimit],
  hash_capacity_per_second: [
    "Derivations of production cost a second, all lanes busy.",
    (stats) => stats.capacityPerSecond,
  ],
};

const COUNTERS: Readonly<Record<string, readonly [help: string, read: Reading]>> = {
  hash_derivations_total: ["Finished derivations.", (stats) => stats.completed],
  hash_aborted_total: ["Derivations dropped because nobody waited any more.", (stats) => stats.aborted],
  hash_queue_shed_total: ["Requests shed with 503 because the queue was full.", (stats) => stats.refused],
  hash_worker_crashes_total: ["Workers that died and were replaced.", (stats) => stats.crashedWorkers],
};

const HISTOGRAMS: Readonly<
  Record<string, readonly [help: string, read: (stats: HasherStats) => HistogramSnapshot]>
> = {
  hash_queue_waiting_seconds: ["How long derivations waited for a lane.", (stats) => stats.waiting],
  hash_deriving_seconds: ["How long derivations ran.", (stats) => stats.running],
};

export function registerHasherMetrics(registry: Registry, { stats }: Pick<Hasher, "stats">): void {
  const registers = [registry];
  new Gauge({
    name: "hash_kernel_info",
    help: "The kernel that serves; fallback is 1 if a faster one could not be used.",
    labelNames: ["kernel", "fallback"],
    registers,
    collect() {
      const { kernel, fallbackReason } = stats();
      this.reset();
      this.set({ kernel, fallback: fallbackReason === null ? "0" : "1" }, 1);
    },
  });
  for (const [name, [help, read]] of Object.entries(GAUGES)) {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read(stats()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(COUNTERS)) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(read(stats()));
      },
    });
  }
  for (const [name, [help, read]] of Object.entries(HISTOGRAMS)) {
    registry.registerMetric(new SnapshotHistogram(name, help, () => read(stats())));
  }
}

/**
 * A histogram that was counted elsewhere: the client library has none that takes finished buckets, so this one, which
 * nobody observes into, says at each scrape what the snapshot says.
 */
class SnapshotHistogram extends Histogram {
  readonly #empty: Histogram;
  readonly #name: string;
  readonly #read: () => HistogramSnapshot;

  constructor(name: string, help: string, read: () => HistogramSnapshot) {
    super({ name, help, registers: [] });
    this.#empty = new Histogram({ name, help, registers: [] });
    this.#name = name;
    this.#read = read;
  }

  /** What the registry asks instead of `get` where a metric has it, as the library's histograms do. */
  getForPromString() {
    return this.get();
  }

  override async get() {
    const { bounds, counts, sum, count } = this.#read();
    const sample = (suffix: string, value: number, labels: { le?: string } = {}) => ({
      metricName: `${this.#name}_${suffix}`,
      labels,
      value,
      exemplar: null,
    });
    return {
      ...(await this.#empty.get()),
      values: [
        ...bounds.map((bound, index) => sample("bucket", counts[index] ?? 0, { le: String(bound) })),
        sample("bucket", count, { le: "+Inf" }),
        sample("sum", sum),
        sample("count", count),
      ],
    };
  }
}
